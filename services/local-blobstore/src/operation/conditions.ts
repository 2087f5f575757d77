import { S3Error } from "../http/s3-error.js";
import { matchesEtag } from "../store/store.js";

/** Version of an object that conditions refer to. */
export interface ObjectVersion {
  readonly etag: string;
  readonly modifiedAt: Date;
}

/**
 * Checks the conditions of a read (RFC 9110 §13); `prefix` is prepended to the header names.
 *
 * @returns false when the client has the current version. @throws S3Error PreconditionFailed.
 */
export function checkRead(headers: ReadonlyMap<string, string>, object: ObjectVersion, prefix = ""): boolean {
  const seconds = Math.floor(object.modifiedAt.getTime() / 1000) * 1000;
  const time = (name: string): number => Date.parse(headers.get(prefix + name) ?? "");
  const ifMatch = headers.get(`${prefix}if-match`);
  if (ifMatch !== undefined) {
    if (!matchesEtag(ifMatch, object.etag)) throw new S3Error("PreconditionFailed");
  } else if (seconds > time("if-unmodified-since")) throw new S3Error("PreconditionFailed");
  const ifNoneMatch = headers.get(`${prefix}if-none-match`);
  if (ifNoneMatch !== undefined) return !matchesEtag(ifNoneMatch, object.etag);
  return !(seconds <= time("if-modified-since"));
}

/** A byte range; `end` is inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a Range header; undefined for the whole object and for forms that S3 ignores.
 *
 * @throws S3Error InvalidRange.
 */
export function readRange(header: string | undefined, size: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "");
  const [, first = "", last = ""] = match ?? [];
  if (match === null || first + last === "") return undefined;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < start) return undefined;
  if (start >= size || end < start) throw new S3Error("InvalidRange", undefined, { "content-range": `bytes */${size}` });
  return { start, end };
}
