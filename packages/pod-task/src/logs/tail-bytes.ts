const LINE_END = 10;

/** Returns all bytes, or the last whole lines within `maxBytes` bytes. */
export async function tailBytes(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let truncated = false;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.byteLength;
    // May keep one part more than needed.
    for (let first = chunks[0]; first !== undefined && size - first.byteLength >= maxBytes; first = chunks[0]) {
      chunks.shift();
      size -= first.byteLength;
      truncated = true;
    }
  }
  const bytes = Buffer.concat(chunks);
  if (!truncated && bytes.byteLength <= maxBytes) return bytes;
  const tail = bytes.subarray(Math.max(0, bytes.byteLength - maxBytes));
  const firstLineEnd = tail.indexOf(LINE_END);
  return firstLineEnd === -1 ? tail : tail.subarray(firstLineEnd + 1);
}
