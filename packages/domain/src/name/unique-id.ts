import { fnv32a, fnv64a } from "./hash.js";

// Go Flyte's encoding of hashes in names: base32 over this alphabet, no padding
// (pluginmachinery/encoding).
const ALPHABET = "abcdefghijklmnopqrstuvwxyz123456";

/** FNV-1a hash that replaces an id that is too long: 32 bit gives 8 characters, 64 bit gives 14. */
export type UniqueIdHash = "fnv32a" | "fnv64a";

/**
 * Joins `parts` with `-` (empty leading parts leave no dash); a result of more than `maxLength`
 * bytes is replaced by `f` and a hash of it. Deterministic.
 * @throws RangeError when the hash itself does not fit into `maxLength`.
 */
export function fixedLengthUniqueId(parts: readonly string[], maxLength: number, hash: UniqueIdHash = "fnv32a"): string {
  let joined = "";
  for (const part of parts) joined += joined === "" ? part : `-${part}`;
  if (Buffer.byteLength(joined) <= maxLength) return joined;
  const encoded = hash === "fnv32a" ? encodeBits(BigInt(fnv32a(joined)), 32) : encodeBits(fnv64a(joined), 64);
  const id = `f${encoded}`;
  if (id.length > maxLength) throw new RangeError(`maxLength ${maxLength} is too small: a hashed id has ${id.length} characters`);
  return id;
}

/**
 * Base32 of a big-endian number of `bits` bits: groups of five from the top, the last one padded
 * with zeros.
 */
function encodeBits(value: bigint, bits: number): string {
  const groups = Math.ceil(bits / 5);
  let rest = value << BigInt(groups * 5 - bits);
  let text = "";
  for (let i = 0; i < groups; i++) {
    text = ALPHABET[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return text;
}
