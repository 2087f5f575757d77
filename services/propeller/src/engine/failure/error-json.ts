import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type ExecutionError, ExecutionError_ErrorKind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";
import { boundMessage } from "./bound-message.js";

/** An error as the resource holds it. A missing one becomes `Unknown`. */
export function errorToJson(error: ExecutionError | undefined): ExecutionErrorJson {
  if (error === undefined) return { code: "Unknown", message: "Unknown error message" };
  return {
    code: error.code === "" ? "Unknown" : error.code,
    message: boundMessage(error.message),
    ...(error.kind === ExecutionError_ErrorKind.UNKNOWN ? {} : { kind: ExecutionError_ErrorKind[error.kind] }),
    ...(error.errorUri === "" ? {} : { errorUri: error.errorUri }),
    ...(error.timestamp === undefined ? {} : { timestamp: timestampDate(error.timestamp).toISOString() }),
    ...(error.worker === "" ? {} : { worker: error.worker }),
  };
}

/** The same error for an event. */
export function errorFromJson(error: ExecutionErrorJson): ExecutionError {
  const time = error.timestamp === undefined ? Number.NaN : Date.parse(error.timestamp);
  return create(ExecutionErrorSchema, {
    code: error.code,
    message: error.message,
    kind: kindOf(error.kind),
    errorUri: error.errorUri ?? "",
    timestamp: Number.isNaN(time) ? undefined : timestampFromMs(time),
    worker: error.worker ?? "",
  });
}

function kindOf(kind: string | undefined): ExecutionError_ErrorKind {
  switch (kind) {
    case "USER":
      return ExecutionError_ErrorKind.USER;
    case "SYSTEM":
      return ExecutionError_ErrorKind.SYSTEM;
    default:
      return ExecutionError_ErrorKind.UNKNOWN;
  }
}
