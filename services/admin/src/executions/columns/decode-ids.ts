import { ByteSource } from "./byte-source.js";
import type { EncodedIds } from "./encode-ids.js";

const FIRST_CAPACITY = 256;

/**
 * Decodes ids that {@link encodeIds} has encoded.
 *
 * @throws RangeError when the columns are shorter than the ids.
 */
export function decodeIds({ prefixes, suffixes }: EncodedIds): string[] {
  const source = new ByteSource(suffixes);
  const lengths = Array.from(prefixes, () => source.varint());
  const ids: string[] = [];
  let id = Buffer.alloc(FIRST_CAPACITY);
  let from = source.at;
  for (const [row, length] of lengths.entries()) {
    const shared = prefixes[row] ?? 0;
    if (from + length > suffixes.length) throw new RangeError("columns end within an id");
    if (shared + length > id.length) id = Buffer.concat([id], 2 * (shared + length));
    id.set(suffixes.subarray(from, from + length), shared);
    ids.push(id.toString("utf8", 0, shared + length));
    from += length;
  }
  return ids;
}
