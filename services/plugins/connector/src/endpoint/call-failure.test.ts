import { Code, type CodeName, RpcError } from "@flyte-ts/rpc";
import { expect, test } from "vitest";
import { callFailure } from "./call-failure.js";

test.each<[CodeName, string, boolean]>([
  ["UNAVAILABLE", "unavailable", false],
  ["DEADLINE_EXCEEDED", "unavailable", false],
  ["CANCELLED", "unavailable", false],
  ["RESOURCE_EXHAUSTED", "unavailable", true],
  ["UNAUTHENTICATED", "unavailable", true],
  ["PERMISSION_DENIED", "unavailable", true],
  ["NOT_FOUND", "missing", false],
  ["INVALID_ARGUMENT", "invalid", false],
  ["UNIMPLEMENTED", "invalid", false],
  ["INTERNAL", "error", false],
  ["UNKNOWN", "error", false],
])("%s is of kind %s", (code, kind, withoutEffect) => {
  const failure = callFailure(new RpcError(Code[code] as Exclude<Code, 0>, "why"), "toys", "CreateTask");
  expect(failure).toMatchObject({ kind, withoutEffect, message: `connector endpoint "toys", CreateTask: ${code}: why` });
});

test("a call that was not sent had no effect, whatever its code", () => {
  const error = new RpcError(Code.DEADLINE_EXCEEDED, "no connection", { notSent: true });
  expect(callFailure(error, "toys", "CreateTask")).toMatchObject({ kind: "unavailable", withoutEffect: true });
});

test("an error outside of the protocol is waited for, since its effect is unknown", () => {
  expect(callFailure(new TypeError("x"), "toys", "GetTask")).toMatchObject({ kind: "unavailable", withoutEffect: false });
});
