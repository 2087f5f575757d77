import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { BlobHead } from "@flyte-ts/blobstore";
import type { CreateUploadLocationRequest, CreateUploadLocationResponseSchema } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import type { ExecutionsDeps } from "../deps.js";
import { alreadyExists } from "../../platform/index.js";
import { base32 } from "./base32.js";
import { expirySeconds } from "./expiry.js";
import { type UploadLocation, uploadLocation } from "./upload-location.js";

export type UploadDeps = Pick<ExecutionsDeps, "blobs" | "config" | "clock" | "random">;

/** Metadata key of an upload's MD5, stored on the caller's request. */
const MD5_METADATA = "flyteContentMD5";

/**
 * Signs a URL for the upload of one object. The signature covers `Content-MD5` when
 * the caller sends it, the metadata when the caller wants its MD5 stored, and a condition when the
 * folder may belong to other content; no other header, since some clients send none. An existing
 * object is never overwritten: a repeated upload of the same content gets the URL of a copy beside
 * it.
 *
 * @throws RpcError INVALID_ARGUMENT, or ALREADY_EXISTS when the object has other content.
 */
export async function createUploadLocation(
  deps: UploadDeps,
  request: CreateUploadLocationRequest,
): Promise<MessageInitShape<typeof CreateUploadLocationResponseSchema>> {
  const { blobs, config, clock } = deps;
  const { contentMd5, addContentMd5Metadata } = request;
  const location = uploadLocation(deps, request);
  const expiresInSeconds = expirySeconds(request.expiresIn, config.dataProxy.upload.maxExpiresInSeconds);
  const md5 = Buffer.from(contentMd5).toString("base64");
  const target = await targetOf(deps, location, contentMd5);
  const signed = await blobs.presignPut(target, {
    expiresInSeconds,
    ...(md5 !== "" && { contentMd5: md5 }),
    ...(location.createOnly && target === location.uri && { createOnly: true }),
    ...(addContentMd5Metadata && { metadata: { [MD5_METADATA]: md5 } }),
  });
  return {
    signedUrl: signed.url,
    nativeUrl: location.uri,
    expiresAt: timestampFromMs(clock().getTime() + expiresInSeconds * 1000),
    // Clients expect these headers. HTTP libraries replace the Content-Length, which is not that of
    // the object.
    headers: { ...signed.headers, "Content-MD5": md5, "Content-Length": String(md5.length) },
  };
}

/** Chooses the URI to sign. @throws RpcError ALREADY_EXISTS. */
async function targetOf({ blobs }: UploadDeps, { uri, repeatUri, kind }: UploadLocation, contentMd5: Uint8Array): Promise<string> {
  if (kind === "random") return uri;
  const head = await blobs.head(uri);
  if (head === undefined) return uri;
  if (contentMd5.length > 0 && isContent(head, Buffer.from(contentMd5))) return repeatUri;
  // The folder of an MD5 holds only content with it; the signature permits no other content.
  if (kind === "content") return uri;
  throw alreadyExists(`file already exists at location [${uri}], specify a matching hash if you wish to rewrite`);
}

/** True when the stored object has this MD5, by its metadata or else its ETag. */
function isContent({ metadata, etag }: BlobHead, md5: Buffer): boolean {
  const known = metadata[MD5_METADATA.toLowerCase()] ?? metadata[MD5_METADATA];
  if (known !== undefined) return known === md5.toString("base64");
  return [md5.toString("hex"), base32(md5), md5.toString("base64")].includes(etag.replaceAll('"', ""));
}
