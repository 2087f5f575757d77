import type { CompactArrayJson } from "@flyte-ts/workflow-crd/status";

const WORD = 64n;

/**
 * Packs small numbers as Go Flyte does in a status: each in as many bits as `max` needs, most
 * significant bit first, in 64-bit words.
 */
export function packBits(values: ArrayLike<number>, max: number): CompactArrayJson {
  const item = Math.ceil(Math.log2(max + 1));
  if (values.length === 0) return { item, BitSet: [] };
  const words = Array.from({ length: Math.max(1, Math.ceil((values.length * item) / 64)) }, () => 0n);
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? 0;
    for (let bit = 0; value !== 0 && bit < item; bit++) {
      if ((value & (1 << (item - 1 - bit))) === 0) continue;
      const place = BigInt(index * item + bit);
      const word = Number(place / WORD);
      words[word] = (words[word] ?? 0n) | (1n << (place % WORD));
    }
  }
  const exact = words.every((word) => word <= BigInt(Number.MAX_SAFE_INTEGER));
  return { item, count: values.length, ...(exact ? { BitSet: words.map(Number) } : {}) };
}
