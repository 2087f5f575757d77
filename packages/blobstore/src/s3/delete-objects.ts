import { createHash } from "node:crypto";
import type * as Sdk from "@aws-sdk/client-s3";
import type { BlobAddress } from "../address.js";
import { BlobError, BlobUnavailable } from "../errors.js";
import { guarded } from "./s3-failure.js";

/** Maximum number of keys per request. */
export const MAX_DELETES = 1_000;

/** True when a key can be written in the request, which is XML 1.0. */
export function fitsXml(key: string): boolean {
  return /^[ -\ufffd]*$/.test(key);
}

interface Connection {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
}

/** Deletes at most MAX_DELETES blobs of one bucket in one request. */
export async function deleteObjects({ sdk, client }: Connection, addresses: readonly BlobAddress[]): Promise<void> {
  const [first] = addresses;
  if (first === undefined) return;
  const Objects = addresses.map(({ key }) => ({ Key: key }));
  const command = new sdk.DeleteObjectsCommand({ Bucket: first.container, Delete: { Objects, Quiet: true } });
  addMd5(command);
  const { Errors = [] } = await guarded(first.uri, () => client.send(command));
  const failures = Errors.filter(({ Code }) => Code !== "NoSuchKey");
  const [failure] = failures;
  if (failure === undefined) return;
  const Failure = failures.some(({ Code }) => PASSING.has(Code ?? "")) ? BlobUnavailable : BlobError;
  throw new Failure(`${first.root}${failure.Key}`, `${failure.Code}: ${failure.Message}, as ${failures.length} of ${addresses.length}`);
}

const PASSING = new Set(["InternalError", "SlowDown", "ServiceUnavailable", "OperationAborted", "RequestTimeout"]);

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
