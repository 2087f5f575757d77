const LINE_END = 10;

/** Returns all bytes, or the last whole lines within `most` bytes. */
export async function lastBytes(parts: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> {
  const kept: Uint8Array[] = [];
  let size = 0;
  let cut = false;
  for await (const part of parts) {
    kept.push(part);
    size += part.byteLength;
    // May keep one part more than needed.
    for (let first = kept[0]; first !== undefined && size - first.byteLength >= most; first = kept[0]) {
      kept.shift();
      size -= first.byteLength;
      cut = true;
    }
  }
  const bytes = Buffer.concat(kept);
  if (!cut && bytes.byteLength <= most) return bytes;
  const end = bytes.subarray(Math.max(0, bytes.byteLength - most));
  const firstEnd = end.indexOf(LINE_END);
  return firstEnd === -1 ? end : end.subarray(firstEnd + 1);
}
