import { createHash } from "node:crypto";
import type { Authenticated } from "../auth/authenticate.js";
import type { S3Request } from "../http/request.js";
import { S3Error } from "../http/s3-error.js";
import { decodeChunks, isChunkedForm } from "./aws-chunked.js";
import { type Checksum, type ChecksumHeader, createChecksum, isChecksumHeader } from "./checksum.js";

/** A complete body that matches its declared length and checksums. */
export interface ReceivedBody {
  readonly size: number;
  /** Hex. */
  readonly md5: string;
  /** Verified checksums by header name. */
  readonly checksums: Readonly<Record<string, string>>;
}

/**
 * Passes the content of a request to `write` and verifies its length, Content-MD5,
 * x-amz-content-sha256, chunk signatures, and checksums in headers or trailers.
 *
 * @throws S3Error on a mismatch; the caller must then discard the written content.
 */
export async function readBody(
  request: S3Request,
  auth: Authenticated,
  write: (data: Buffer) => void | Promise<void>,
): Promise<ReceivedBody> {
  const chunked = isChunkedForm(auth.payloadHash);
  if (!chunked && auth.payloadHash !== "UNSIGNED-PAYLOAD" && !/^[0-9a-f]{64}$/.test(auth.payloadHash)) {
    throw new S3Error("InvalidRequest", "x-amz-content-sha256 must be a SHA-256 in hex, UNSIGNED-PAYLOAD or a streaming form");
  }
  const trailers = new Map<string, string>();
  const wire = request.body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const content = chunked ? decodeChunks(wire, auth, trailers) : wire;
  const md5 = createHash("md5");
  const sha256 = chunked || auth.payloadHash === "UNSIGNED-PAYLOAD" ? undefined : createHash("sha256");
  const checksums = declaredChecksums(request);
  const expected = declaredLength(request, chunked);
  let size = 0;
  request.sendContinue();
  for await (const data of content) {
    size += data.length;
    if (size > expected) throw new S3Error("IncompleteBody");
    md5.update(data);
    sha256?.update(data);
    for (const checksum of checksums.values()) checksum.update(data);
    await write(data);
  }
  if (expected !== Number.POSITIVE_INFINITY && size !== expected) throw new S3Error("IncompleteBody");
  const digest = md5.digest();
  checkMd5(request, digest);
  if (sha256 !== undefined && sha256.digest("hex") !== auth.payloadHash) throw new S3Error("XAmzContentSHA256Mismatch");
  return { size, md5: digest.toString("hex"), checksums: checkChecksums(request, { checksums, trailers }) };
}

/**
 * Reads a small body as text.
 *
 * @throws S3Error EntityTooLarge, and those of readBody.
 */
export async function readTextBody(request: S3Request, auth: Authenticated, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  await readBody(request, auth, (data) => {
    size += data.length;
    if (size > maxBytes) throw new S3Error("EntityTooLarge");
    pieces.push(data);
  });
  return Buffer.concat(pieces).toString("utf8");
}

function declaredLength({ headers }: S3Request, chunked: boolean): number {
  const text = headers.get(chunked ? "x-amz-decoded-content-length" : "content-length");
  if (text === undefined) {
    if (chunked) throw new S3Error("MissingContentLength", "x-amz-decoded-content-length is required");
    // Without a length and without chunked transfer encoding there is no body.
    return headers.has("transfer-encoding") ? Number.POSITIVE_INFINITY : 0;
  }
  const length = Number(text);
  if (!Number.isSafeInteger(length) || length < 0) throw new S3Error("InvalidRequest", "the declared length is not a number");
  return length;
}

function declaredChecksums({ headers }: S3Request): Map<ChecksumHeader, Checksum> {
  const trailing = (headers.get("x-amz-trailer") ?? "").split(",").map((name) => name.trim().toLowerCase());
  return new Map([...headers.keys(), ...trailing].filter(isChecksumHeader).map((name) => [name, createChecksum(name)]));
}

function checkMd5({ headers }: S3Request, digest: Buffer): void {
  const declared = headers.get("content-md5");
  if (declared === undefined) return;
  const bytes = Buffer.from(declared, "base64");
  if (bytes.length !== 16) throw new S3Error("InvalidDigest", "Content-MD5 must be the base64 of 16 bytes");
  if (!bytes.equals(digest)) throw new S3Error("BadDigest");
}

interface ChecksumInput {
  readonly checksums: ReadonlyMap<ChecksumHeader, Checksum>;
  readonly trailers: ReadonlyMap<string, string>;
}

function checkChecksums({ headers }: S3Request, { checksums, trailers }: ChecksumInput): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, checksum] of checksums) {
    const declared = headers.get(name) ?? trailers.get(name);
    if (declared === undefined) throw new S3Error("InvalidRequest", `${name} was declared in x-amz-trailer but is missing`);
    const digest = checksum.digest();
    if (declared !== digest) throw new S3Error("BadDigest", `${name} does not match the content`);
    found[name] = digest;
  }
  return found;
}
