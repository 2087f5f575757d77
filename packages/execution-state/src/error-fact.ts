import { toBinary } from "@bufbuild/protobuf";
import { type ExecutionError, ExecutionError_ErrorKind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ErrorFact } from "./facts.js";
import { storableText } from "./storable-text.js";

export function errorFact(error: ExecutionError): ErrorFact {
  return {
    bytes: toBinary(ExecutionErrorSchema, error),
    kind: ExecutionError_ErrorKind[error.kind] ?? String(error.kind),
    code: storableText(error.code),
  };
}
