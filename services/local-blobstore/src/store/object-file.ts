import { type FileHandle, open } from "node:fs/promises";
import { S3Error } from "../http/s3-error.js";

/** Metadata stored with an object. */
export interface ObjectInfo {
  /**
   * Without quotes: the MD5 in hex; after a multipart upload the MD5 of the parts' MD5s and the
   * number of parts.
   */
  readonly etag: string;
  /** Response headers of reads: content-type, cache-control and others. */
  readonly headers: Readonly<Record<string, string>>;
  /** User metadata (`x-amz-meta-*`) without the prefix. */
  readonly metadata: Readonly<Record<string, string>>;
  /** By header name. */
  readonly checksums?: Readonly<Record<string, string>>;
  /** The multipart upload that created the object. */
  readonly uploadId?: string;
  /** The key, where the file name does not encode it. */
  readonly key?: string;
}

/** An open object; it stays readable when it is replaced or deleted. */
export interface OpenObject extends AsyncDisposable {
  readonly info: ObjectInfo;
  /** Size of the content, bytes. */
  readonly size: number;
  readonly modifiedAt: Date;
  readonly handle: FileHandle;
  /** The content of small objects. */
  readonly content: Buffer | undefined;
}

// File format: content, JSON metadata, its length, magic number. A rename makes it visible as a
// whole, and the content can be streamed before its MD5 is known.
const MAGIC = Buffer.from("FLYBLOB1");
const FOOTER_BYTES = 4 + MAGIC.length;
const TAIL_BYTES = 16 * 1024;

/** Encodes the part of the file after the content. */
export function encodeTail(info: ObjectInfo): Buffer {
  const json = Buffer.from(JSON.stringify(info));
  const footer = Buffer.alloc(4);
  footer.writeUInt32BE(json.length);
  return Buffer.concat([json, footer, MAGIC]);
}

/**
 * @returns undefined when the file does not exist. @throws S3Error InternalError when it is
 *   corrupt.
 */
export async function openObject(path: string): Promise<OpenObject | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, "r");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    return await readTail(path, handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readTail(path: string, handle: FileHandle): Promise<OpenObject> {
  const stat = await handle.stat();
  let tail = await readAt(handle, { from: Math.max(0, stat.size - TAIL_BYTES), to: stat.size });
  if (tail.length < FOOTER_BYTES || !tail.subarray(-MAGIC.length).equals(MAGIC)) throw corruptFileError(path);
  const infoLength = tail.readUInt32BE(tail.length - FOOTER_BYTES);
  const size = stat.size - FOOTER_BYTES - infoLength;
  if (size < 0) throw corruptFileError(path);
  if (tail.length < FOOTER_BYTES + infoLength) tail = await readAt(handle, { from: size, to: stat.size });
  const info = parseInfo(tail.toString("utf8", tail.length - FOOTER_BYTES - infoLength, tail.length - FOOTER_BYTES));
  if (info === undefined) throw corruptFileError(path);
  const content = tail.length === stat.size ? tail.subarray(0, size) : undefined;
  return { info, size, modifiedAt: stat.mtime, handle, content, [Symbol.asyncDispose]: () => handle.close() };
}

async function readAt(handle: FileHandle, { from, to }: { from: number; to: number }): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(to - from);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, from + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function parseInfo(json: string): ObjectInfo | undefined {
  try {
    return JSON.parse(json) as ObjectInfo;
  } catch {
    return undefined;
  }
}

function corruptFileError(path: string): S3Error {
  return new S3Error("InternalError", `the stored file ${path} is damaged`);
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
