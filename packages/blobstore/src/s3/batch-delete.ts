import { createHash } from "node:crypto";
import type * as Sdk from "@aws-sdk/client-s3";
import type { BlobLocation } from "../blob-uri.js";
import { BlobError, BlobUnavailableError } from "../errors.js";
import { mapErrors } from "./s3-errors.js";

/** Maximum number of keys per request. */
export const MAX_BATCH_DELETE = 1_000;

/** True when a key can be written in the request, which is XML 1.0. */
export function isXmlSafe(key: string): boolean {
  return /^[ -\ufffd]*$/.test(key);
}

interface Connection {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
}

/** Deletes at most MAX_BATCH_DELETE blobs of one bucket in one request. */
export async function batchDelete({ sdk, client }: Connection, locations: readonly BlobLocation[]): Promise<void> {
  const [first] = locations;
  if (first === undefined) return;
  const Objects = locations.map(({ key }) => ({ Key: key }));
  const command = new sdk.DeleteObjectsCommand({ Bucket: first.bucket, Delete: { Objects, Quiet: true } });
  addMd5(command);
  const { Errors = [] } = await mapErrors(first.uri, () => client.send(command));
  const failures = Errors.filter(({ Code }) => Code !== "NoSuchKey");
  const [failure] = failures;
  if (failure === undefined) return;
  const ErrorClass = failures.some(({ Code }) => TRANSIENT_CODES.has(Code ?? "")) ? BlobUnavailableError : BlobError;
  throw new ErrorClass(`${first.root}${failure.Key}`, `${failure.Code}: ${failure.Message}, as ${failures.length} of ${locations.length}`);
}

const TRANSIENT_CODES = new Set(["InternalError", "SlowDown", "ServiceUnavailable", "OperationAborted", "RequestTimeout"]);

/** Services older than the SDK's CRC checksums require this one. */
function addMd5(command: Sdk.DeleteObjectsCommand): void {
  command.middlewareStack.add(
    (next) => (args) => {
      const { request } = args;
      if (hasHeaders(request) && typeof request.body === "string")
        request.headers["content-md5"] = createHash("md5").update(request.body).digest("base64");
      return next(args);
    },
    { step: "build", name: "content-md5" },
  );
}

function hasHeaders(request: unknown): request is { readonly headers: Record<string, string>; readonly body?: unknown } {
  return typeof request === "object" && request !== null && "headers" in request;
}
