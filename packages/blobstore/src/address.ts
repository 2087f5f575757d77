import { BlobError } from "./errors.js";

/** Where a blob is. */
export type BlobAddress =
  | { readonly scheme: "s3"; readonly uri: string; readonly bucket: string; readonly key: string }
  | { readonly scheme: "file"; readonly uri: string; readonly path: string };

/**
 * Reads `s3://bucket/key`, `file:///path` or an absolute path.
 * @throws BlobError for other schemes, for a missing bucket, and for file paths with `..` in them.
 */
export function parseAddress(uri: string): BlobAddress {
  const s3 = /^s3a?:\/\/([^/]+)(?:\/(.*))?$/s.exec(uri);
  if (s3 !== null) return { scheme: "s3", uri, bucket: s3[1] ?? "", key: s3[2] ?? "" };
  const file = /^(?:file:\/\/)?(\/.*)$/s.exec(uri);
  if (file === null) throw new BlobError(uri, "the address must be s3://bucket/key or file:///path");
  const path = file[1] ?? "";
  if (path.split("/").includes("..") || path.includes("\0")) throw new BlobError(uri, "the path must not contain .. or NUL");
  return { scheme: "file", uri, path };
}

/** `uri` and `parts` with one slash between each; empty parts are left out. */
export function joinUri(uri: string, ...parts: readonly string[]): string {
  let joined = uri.replace(/(?<=[^/:])\/+$/, "");
  for (const part of parts) {
    const plain = part.replace(/^\/+|\/+$/g, "");
    if (plain !== "") joined += joined.endsWith("/") ? plain : `/${plain}`;
  }
  return joined;
}
