import { ByteSink } from "./byte-sink.js";
import { EncodedText } from "./encoded-text.js";

const MAX_PREFIX = 255;

/** Columns of ids, as flytets.admin.v1.NodeColumns has them. */
export interface EncodedIds {
  readonly prefixes: Uint8Array;
  readonly suffixes: Uint8Array;
}

/** Encodes ids by the prefix that each shares with the one before. */
export function encodeIds(count: number, idAt: (index: number) => string): EncodedIds {
  const prefixes = new Uint8Array(count);
  const lengths = new ByteSink(count);
  const rest = new ByteSink(8 * count);
  let [id, before] = [new EncodedText(), new EncodedText()];
  for (let index = 0; index < count; index++) {
    id.set(idAt(index));
    const shared = id.sharedLength(before, MAX_PREFIX);
    prefixes[index] = shared;
    lengths.varint(id.length - shared);
    rest.bytes(id.bytes, shared, id.length);
    [id, before] = [before, id];
  }
  const suffixes = rest.written();
  lengths.bytes(suffixes, 0, suffixes.length);
  return { prefixes, suffixes: lengths.written() };
}
