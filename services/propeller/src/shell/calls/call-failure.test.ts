import { Code, RpcError } from "@flyte-ts/rpc";
import { expect, test } from "vitest";
import { toCallFailure } from "./call-failure.js";

test.each([Code.UNAVAILABLE, Code.INTERNAL, Code.UNAUTHENTICATED])("code %i is asked again", (code) => {
  expect(toCallFailure(new RpcError(code, "no"))).toMatchObject({ kind: "error" });
});

test.each([Code.NOT_FOUND, Code.INVALID_ARGUMENT, Code.PERMISSION_DENIED])("code %i is final", (code) => {
  expect(toCallFailure(new RpcError(code, "no"))).toMatchObject({ kind: "refused", message: "no" });
});
