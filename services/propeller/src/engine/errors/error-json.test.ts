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

it("has kinds as numbers and times as their fields in the parts of a status that Go writes so, and comes back whole", () => {
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

it("reads kinds by their names too, as they were written before", () => {
  const before = { code: "E", message: "m", kind: "SYSTEM" } as unknown as GoErrorJson;
  expect(errorFromPlain(before)).toEqual({ code: "E", message: "m", kind: "SYSTEM" });
});
