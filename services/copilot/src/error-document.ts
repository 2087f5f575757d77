import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { BlobError, BlobUnavailableError } from "@flyte-ts/blobstore";
import { ContainerError_Kind, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { ExecutionError_ErrorKind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { CopilotError } from "./copilot-error.js";

/**
 * Encodes error.pb in the form that readers of an attempt's result expect. The failure is
 * retryable.
 */
export function errorDocument(code: string, error: unknown, at: Date): Uint8Array {
  const message = error instanceof Error ? error.message : String(error);
  const document = create(ErrorDocumentSchema, {
    error: {
      code: (error instanceof CopilotError ? error.code : undefined) ?? code,
      message,
      kind: ContainerError_Kind.RECOVERABLE,
      origin: ExecutionError_ErrorKind[originOf(error)],
      timestamp: timestampFromDate(at),
    },
  });
  return toBinary(ErrorDocumentSchema, document);
}

/** Errors of invalid or forbidden URIs are the task author's. */
function originOf(error: unknown): "USER" | "SYSTEM" {
  if (error instanceof CopilotError) return error.origin;
  return error instanceof BlobError && !(error instanceof BlobUnavailableError) ? "USER" : "SYSTEM";
}
