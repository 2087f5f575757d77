import { Code, RpcError } from "@flyte-ts/rpc";
import { expect, test } from "vitest";
import { toCallFailure } from "./call-failure.js";

test.each([Code.UNAVAILABLE, Code.INTERNAL, Code.UNAUTHENTICATED])("a call that fails with code %i is retried", (code) => {
  expect(toCallFailure(new RpcError(code, "no"))).toMatchObject({ kind: "error" });
});

test.each([Code.NOT_FOUND, Code.INVALID_ARGUMENT, Code.PERMISSION_DENIED])(
  "a call that fails with code %i is refused permanently",
  (code) => {
    expect(toCallFailure(new RpcError(code, "no"))).toMatchObject({ kind: "refused", message: "no" });
  },
);
