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

test.each([
  "request flyteidl.admin.ExecutionCreateRequest is larger than 4194304 bytes",
  "request flyteidl.admin.ExecutionCreateRequest has more than 1000000 elements",
  "the server has 1000 bytes of memory for requests: this request needs more",
  "grpc: received message larger than max (5000000 vs. 4194304)",
])("a call that is refused for its size is not retried: %s", (message) => {
  expect(toCallFailure(new RpcError(Code.RESOURCE_EXHAUSTED, message))).toEqual({ kind: "refused", code: "OUT_OF_RANGE", message });
});

test.each(["the server has 1000 bytes of memory for requests: other requests use it; try again", "quota"])(
  "a call that a busy server refuses is retried: %s",
  (message) => {
    expect(toCallFailure(new RpcError(Code.RESOURCE_EXHAUSTED, message))).toMatchObject({ kind: "error" });
  },
);
