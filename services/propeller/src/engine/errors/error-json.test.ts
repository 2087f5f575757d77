import { create } from "@bufbuild/protobuf";
import { ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExecutionErrorJson, GoErrorJson } from "@flyte-ts/workflow-crd/status";
import { expect, it } from "vitest";
import { errorFromPlain, errorToJson, errorToPlain } from "./error-json.js";

const error: ExecutionErrorJson = {
  code: "USER:ValueError",
  message: "bad value",
  kind: "USER",
  errorUri: "s3://b/error.pb",
  timestamp: "2026-11-21T10:00:00.250Z",
  worker: "w",
};

it("has numeric kinds and timestamps as fields where Go writes them so, and is parsed unchanged", () => {
  const plain = errorToPlain(error);
  expect(plain).toEqual({
    code: "USER:ValueError",
    message: "bad value",
    kind: 1,
    error_uri: "s3://b/error.pb",
    timestamp: { seconds: Date.parse("2026-11-21T10:00:00Z") / 1_000, nanos: 250_000_000 },
    worker: "w",
  });
  expect(errorFromPlain(plain)).toEqual(error);
});

it("is parsed with kinds by name, too, as earlier versions wrote them", () => {
  const before = { code: "E", message: "m", kind: "SYSTEM" } as unknown as GoErrorJson;
  expect(errorFromPlain(before)).toEqual({ code: "E", message: "m", kind: "SYSTEM" });
});

it.each([253_402_300_800n, -62_135_596_801n, 9_000_000_000_000_000n])("omits a time that RFC 3339 cannot express: %s s", (seconds) => {
  const error = create(ExecutionErrorSchema, { code: "E", message: "m", timestamp: { seconds, nanos: 0 } });
  expect(errorToJson(error)).toEqual({ code: "E", message: "m" });
});
