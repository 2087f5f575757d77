import { create, toBinary } from "@bufbuild/protobuf";
import { ContainerError_Kind, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { ExecutionError_ErrorKind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ErrorClass } from "./bootstrap-error.js";

/** Encodes the document that tells the server why the attempt failed. */
export function failureDocument({ kind, origin, code }: ErrorClass, message: string): Uint8Array {
  return toBinary(
    ErrorDocumentSchema,
    create(ErrorDocumentSchema, {
      error: {
        code,
        message,
        kind: kind === "transient" ? ContainerError_Kind.RECOVERABLE : ContainerError_Kind.NON_RECOVERABLE,
        origin: origin === "system" ? ExecutionError_ErrorKind.SYSTEM : ExecutionError_ErrorKind.USER,
      },
    }),
  );
}
