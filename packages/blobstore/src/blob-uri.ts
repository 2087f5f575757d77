import { BlobUriError } from "./errors.js";

/** Kinds of stores: S3, Google Cloud Storage, Azure Blob Storage, local files. */
export type BlobScheme = "s3" | "gs" | "abfs" | "file";

/** Address of a blob. */
export interface BlobLocation {
  readonly scheme: BlobScheme;
  readonly uri: string;
  /**
   * Prefix before the key, the same for all keys of the container: `s3://bucket/`; `file://` or
   * nothing.
   */
  readonly root: string;
  /** The bucket, or Azure's container; empty for files. */
  readonly bucket: string;
  /** Host of Azure's storage account, where the address names it. */
  readonly host?: string;
  /** Key in the bucket, not decoded; path of a file. */
  readonly key: string;
}

const URI_FORMS = "s3://bucket/key, gs://bucket/key, abfs://container/key or file:///path";

/**
 * Parses an address. Forms are those of Flyte, Hadoop and fsspec: `s3://bucket/key` (also s3a),
 * `gs://bucket/key`, `abfs://container/key` and `abfs://container@account.dfs.core.windows.net/key`
 * (also abfss), `file:///path` or an absolute path.
 *
 * @throws BlobUriError for other schemes, for a missing bucket, and for file paths with `..` in
 *   them.
 */
export function parseBlobUri(uri: string): BlobLocation {
  const match = /^(s3a?|gs|abfss?):\/\/([^/]+)(?:\/(.*))?$/s.exec(uri);
  if (match !== null) return parseBucketUri(uri, match);
  const file = /^(file:\/\/)?(\/.*)$/s.exec(uri);
  if (file === null) throw new BlobUriError(uri, `the address must be ${URI_FORMS}`);
  const [, root = "", key = ""] = file;
  if (key.split("/").includes("..") || key.includes("\0")) throw new BlobUriError(uri, "the path must not contain .. or NUL");
  return { scheme: "file", uri, root, bucket: "", key };
}

function parseBucketUri(uri: string, [, scheme, authority = "", key = ""]: RegExpExecArray): BlobLocation {
  const root = uri.slice(0, uri.length - key.length);
  const location = { uri, root: root.endsWith("/") ? root : `${root}/`, bucket: authority, key };
  if (scheme === "gs") return { scheme, ...location };
  if (scheme === "s3" || scheme === "s3a") return { scheme: "s3", ...location };
  const [bucket = "", host] = authority.split("@", 2);
  return { scheme: "abfs", ...location, bucket, ...(host !== undefined && { host }) };
}

/** Joins `uri` and `parts` with one slash between each; empty parts are left out. */
export function joinUri(uri: string, ...parts: readonly string[]): string {
  let joined = uri.replace(/(?<=[^/:])\/+$/, "");
  for (const part of parts) {
    const plain = withoutOuterSlashes(part);
    if (plain !== "") joined += joined.endsWith("/") ? plain : `/${plain}`;
  }
  return joined;
}

/**
 * Searches from both ends, because a regular expression for trailing slashes would be tried at each
 * slash within the text.
 */
function withoutOuterSlashes(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === "/") start++;
  while (end > start && text[end - 1] === "/") end--;
  return text.slice(start, end);
}
