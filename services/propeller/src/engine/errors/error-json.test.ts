import type { ExecutionErrorJson, GoErrorJson } from "@flyte-ts/workflow-crd/status";
import { expect, it } from "vitest";
import { errorFromPlain, errorToPlain } from "./error-json.js";

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
