const BLOCK_BYTES = 64;
const SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
/** Whole parts of sines, by RFC 1321. */
const SINES = Uint32Array.from({ length: BLOCK_BYTES }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32));

/** MD5 of a stream of bytes, which browsers do not offer; blob stores check uploads by it. */
export interface Md5 {
  update(bytes: Uint8Array): void;
  /** Ends the stream. Returns the 16 bytes. */
  digest(): Uint8Array;
}

export function createMd5(): Md5 {
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  const block = new Uint8Array(BLOCK_BYTES);
  const words = new Uint32Array(BLOCK_BYTES / 4);
  let [filled, total] = [0, 0];
  const update = (bytes: Uint8Array): void => {
    total += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const size = Math.min(BLOCK_BYTES - filled, bytes.length - at);
      block.set(bytes.subarray(at, at + size), filled);
      [filled, at] = [filled + size, at + size];
      if (filled < BLOCK_BYTES) continue;
      mix(state, block, words);
      filled = 0;
    }
  };
  return {
    update,
    digest() {
      const length = new DataView(new ArrayBuffer(8));
      length.setBigUint64(0, BigInt(total) * 8n, true);
      const padding = new Uint8Array(((BLOCK_BYTES + 55 - (total % BLOCK_BYTES)) % BLOCK_BYTES) + 1);
      padding[0] = 0x80;
      update(padding);
      update(new Uint8Array(length.buffer));
      const result = new DataView(new ArrayBuffer(16));
      for (const [index, word] of state.entries()) result.setUint32(index * 4, word, true);
      return new Uint8Array(result.buffer);
    },
  };
}

/** Mixes a block into the state. */
function mix(state: Uint32Array, block: Uint8Array, words: Uint32Array): void {
  const view = new DataView(block.buffer, block.byteOffset);
  for (let i = 0; i < words.length; i++) words[i] = view.getUint32(i * 4, true);
  let [a = 0, b = 0, c = 0, d = 0] = state;
  for (let i = 0; i < BLOCK_BYTES; i++) {
    const round = i >> 4;
    const [f, word] = step(i, b, c, d);
    const shift = SHIFTS[round * 4 + (i & 3)] ?? 0;
    const sum = (a + f + (SINES[i] ?? 0) + (words[word] ?? 0)) | 0;
    [a, d, c, b] = [d, c, b, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0];
  }
  for (const [index, value] of [a, b, c, d].entries()) state[index] = (state[index] ?? 0) + value;
}

/** Function of step `i` in its round, and the index of the word that it takes. */
function step(i: number, b: number, c: number, d: number): readonly [number, number] {
  const round = i >> 4;
  if (round === 0) return [(b & c) | (~b & d), i];
  if (round === 1) return [(d & b) | (~d & c), (5 * i + 1) & 15];
  if (round === 2) return [b ^ c ^ d, (3 * i + 5) & 15];
  return [c ^ (b | ~d), (7 * i) & 15];
}
