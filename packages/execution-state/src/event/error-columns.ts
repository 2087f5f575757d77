import { toBinary } from "@bufbuild/protobuf";
import { type ExecutionError, ExecutionError_ErrorKind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ErrorColumns } from "./updates.js";
import { sanitizeText } from "./sanitize-text.js";

export function errorColumns(error: ExecutionError): ErrorColumns {
  return {
    bytes: toBinary(ExecutionErrorSchema, error),
    kind: ExecutionError_ErrorKind[error.kind] ?? String(error.kind),
    code: sanitizeText(error.code),
  };
}
