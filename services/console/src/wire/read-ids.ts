import { type ByteCursor, MalformedMessageError, readVarint } from "./read-varints.js";

/** Ids as NodeColumns has them: each shares leading bytes with the one before. */
export interface IdSuffixes {
  /** Lengths of the remaining bytes of the ids. */
  readonly idSuffixLength: Int32Array;
  /** Remaining bytes of all ids. */
  readonly idSuffix: Uint8Array;
}

/**
 * Reads `length` lengths, then that many bytes in total.
 *
 * @throws MalformedMessageError when the bytes are not these.
 */
export function readSuffixes(bytes: Uint8Array, length: number): IdSuffixes {
  const cursor: ByteCursor = { bytes, at: 0 };
  const idSuffixLength = new Int32Array(length);
  let total = 0;
  // NodeColumns: all varints are zigzag-encoded, lengths too.
  for (let row = 0; row < length; row++) total += idSuffixLength[row] = readVarint(cursor) / 2;
  const idSuffix = bytes.subarray(cursor.at);
  if (idSuffix.length !== total) throw new MalformedMessageError(`the ids have ${idSuffix.length} of ${total} bytes`);
  return { idSuffix, idSuffixLength };
}
