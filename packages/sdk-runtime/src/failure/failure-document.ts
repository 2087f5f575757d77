import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ContainerError_Kind, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { ExecutionError_ErrorKind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { BlobAccess } from "../blob/blob-access.js";
import { joinUri } from "../blob/join-uri.js";
import type { ErrorClass } from "./error-class.js";

export interface FailurePlace {
  readonly blobs: BlobAccess;
  readonly outputPrefix: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Writes the error of an attempt. Where several workers run one task, each writes a document of its
 * own, and the server picks one.
 */
export async function writeFailure(
  { blobs, outputPrefix, environment }: FailurePlace,
  failure: ErrorClass & { readonly message: string },
): Promise<void> {
  const hasWorkers = Boolean(environment["_F_DES"]);
  const name = hasWorkers ? `error-${randomUUID().replaceAll("-", "")}.pb` : "error.pb";
  const document = create(ErrorDocumentSchema, {
    error: {
      code: failure.code,
      message: failure.message,
      kind: failure.recoverable ? ContainerError_Kind.RECOVERABLE : ContainerError_Kind.NON_RECOVERABLE,
      origin: failure.origin === "system" ? ExecutionError_ErrorKind.SYSTEM : ExecutionError_ErrorKind.USER,
      timestamp: timestampNow(),
      ...(hasWorkers && { worker: environment["_F_WN"] ?? "" }),
    },
  });
  await blobs.write(joinUri(outputPrefix, name), toBinary(ErrorDocumentSchema, document));
}
