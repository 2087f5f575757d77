import { parameter, type S3Request } from "../http/request.js";
import { S3Error } from "../http/s3-error.js";
import type { ObjectInfo, OpenObject } from "../store/object-file.js";
import { quoted } from "./context.js";

const METADATA_PREFIX = "x-amz-meta-";
const MAX_METADATA_BYTES = 8 * 1024;
const STORED_HEADERS = ["content-type", "cache-control", "content-disposition", "content-encoding", "content-language", "expires"] as const;

/** Selects the request headers and metadata that are stored with the object. */
export function storedHeaders({ headers }: S3Request): Pick<ObjectInfo, "headers" | "metadata"> {
  const kept: Record<string, string> = {};
  for (const name of STORED_HEADERS) {
    const value = name === "content-encoding" ? withoutChunking(headers.get(name)) : headers.get(name);
    if (value !== undefined && value !== "") kept[name] = value;
  }
  const metadata: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value] of headers) {
    if (!name.startsWith(METADATA_PREFIX)) continue;
    bytes += name.length + value.length;
    metadata[name.slice(METADATA_PREFIX.length)] = value;
  }
  if (bytes > MAX_METADATA_BYTES) throw new S3Error("MetadataTooLarge");
  return { headers: kept, metadata };
}

/** Removes `aws-chunked`, which describes the request and not the object. */
function withoutChunking(encoding: string | undefined): string | undefined {
  return encoding
    ?.split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "aws-chunked")
    .join(",");
}

/**
 * Isolates stored HTML pages, such as decks: scripts may run, but only in an opaque origin without
 * access to other objects of this host.
 */
const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox allow-scripts allow-popups allow-downloads",
} as const;

/** Matches bytes that a header value must not contain (RFC 9110 §5.5). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the bytes that are refused.
const INVALID_HEADER_BYTES = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Builds the response headers of an object.
 *
 * @throws S3Error InvalidArgument for a header that cannot be sent.
 */
export function objectHeaders(request: S3Request, { info, modifiedAt }: OpenObject): Record<string, string> {
  const headers: Record<string, string> = { "content-type": "binary/octet-stream", ...info.headers };
  for (const name of STORED_HEADERS) {
    const override = parameter(request, `response-${name}`);
    if (override === undefined) continue;
    if (INVALID_HEADER_BYTES.test(override))
      throw new S3Error(
        "InvalidArgument",
        `response-${name} must not contain line breaks, other control characters or characters outside of Latin-1`,
      );
    headers[name] = override;
  }
  for (const [name, value] of Object.entries(info.metadata)) headers[`${METADATA_PREFIX}${name}`] = value;
  if (request.headers.get("x-amz-checksum-mode")?.toUpperCase() === "ENABLED" && !request.headers.has("range"))
    Object.assign(headers, info.checksums);
  return { ...headers, ...SECURITY_HEADERS, etag: quoted(info.etag), "last-modified": modifiedAt.toUTCString(), "accept-ranges": "bytes" };
}
