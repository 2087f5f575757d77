import { create } from "@bufbuild/protobuf";
import { type ExecutionError, ExecutionError_ErrorKind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** Error on a node or attempt that did not succeed and whose end was never reported. */
export function inferredEndError(reason: string): ExecutionError {
  return create(ExecutionErrorSchema, { code: "EndNotReported", message: reason, kind: ExecutionError_ErrorKind.SYSTEM });
}
