import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { CreateUploadLocationRequest, CreateUploadLocationResponseSchema } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import type { AdminDeps } from "../deps.js";
import { alreadyExists, invalidArgument } from "../invalid.js";
import { base32 } from "./base32.js";
import { expirySeconds } from "./expiry.js";

export type UploadDeps = Pick<AdminDeps, "blobs" | "config" | "clock" | "random">;

/** Metadata key under which an upload's MD5 is kept, where the uploader asks for it. */
const MD5_METADATA = "flyteContentMD5";
const NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";

/**
 * An address to which the caller may put one object (contract §2.6). The signature asks for
 * no header but, when the caller wants its MD5 kept, the metadata: there are clients that
 * send no other.
 *
 * @throws RpcError INVALID_ARGUMENT, or ALREADY_EXISTS when other content stands there.
 */
export async function createUploadLocation(
  deps: UploadDeps,
  request: CreateUploadLocationRequest,
): Promise<MessageInitShape<typeof CreateUploadLocationResponseSchema>> {
  const { blobs, config, clock } = deps;
  const { project, domain, contentMd5, filename, filenameRoot } = request;
  if (project === "" || domain === "") throw invalidArgument("project and domain are required parameters");
  if (filenameRoot === "" && contentMd5.length === 0) throw invalidArgument("content_md5 or filename_root is a required parameter");
  for (const [field, value] of Object.entries({ project, domain, filename, filename_root: filenameRoot, org: request.org })) {
    checkKeyPart(field, value);
  }
  const { maxExpiresInSeconds, defaultFileNameLength, storagePrefix } = config.dataProxy.upload;
  const expiresInSeconds = expirySeconds(request.expiresIn, maxExpiresInSeconds);
  const root = filenameRoot || base32(contentMd5);
  const name = filename || randomName(deps.random, defaultFileNameLength);
  const uri = [config.storage.container.replace(/\/+$/, ""), storagePrefix, request.org, project, domain, root, name]
    .filter((part) => part !== "")
    .join("/");
  if (filename !== "" && filenameRoot !== "") await requireFree(deps, uri, contentMd5);
  const md5 = Buffer.from(contentMd5).toString("base64");
  const keepMd5 = request.addContentMd5Metadata;
  const signed = await blobs.signPut(uri, { expiresInSeconds, ...(keepMd5 && { metadata: { [MD5_METADATA]: md5 } }) });
  return {
    signedUrl: signed.url,
    nativeUrl: uri,
    expiresAt: timestampFromMs(clock().getTime() + expiresInSeconds * 1000),
    // As clients know them; the length, which is not the object's, is set anew by every HTTP library.
    headers: { ...signed.headers, "Content-MD5": md5, "Content-Length": String(md5.length) },
  };
}

/** A key is one path: no part may lead out of the project's own. */
function checkKeyPart(field: string, value: string): void {
  if (value.includes("\0")) throw invalidArgument(`invalid value for ${field}: NUL characters are not allowed`);
  if (value.split("/").some((part) => part === "." || part === "..")) {
    throw invalidArgument(`invalid value for ${field}: it must not contain the path segments . and ..`);
  }
}

async function requireFree({ blobs }: UploadDeps, uri: string, contentMd5: Uint8Array): Promise<void> {
  const head = await blobs.head(uri);
  if (head === undefined) return;
  const taken = alreadyExists(`file already exists at location [${uri}], specify a matching hash if you wish to rewrite`);
  if (contentMd5.length === 0) throw taken;
  const bytes = Buffer.from(contentMd5);
  const known = head.metadata[MD5_METADATA.toLowerCase()] ?? head.metadata[MD5_METADATA];
  const etag = head.etag.replaceAll('"', "");
  const same =
    known === undefined
      ? [bytes.toString("hex"), base32(bytes), bytes.toString("base64")].includes(etag)
      : known === bytes.toString("base64");
  if (!same) throw taken;
}

function randomName(random: () => number, length: number): string {
  return Array.from({ length }, () => NAME_CHARACTERS.charAt(Math.floor(random() * NAME_CHARACTERS.length))).join("");
}
