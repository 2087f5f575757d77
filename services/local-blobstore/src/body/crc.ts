/** Continues a CRC-32C (Castagnoli) with more bytes; starts at 0. */
export function crc32c(bytes: Uint8Array, crc: number): number {
  const table = castagnoli();
  let value = ~crc;
  for (const byte of bytes) value = (table[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
  return ~value >>> 0;
}

let castagnoliTable: Int32Array | undefined;

function castagnoli(): Int32Array {
  castagnoliTable ??= Int32Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
    return value;
  });
  return castagnoliTable;
}

/** A 64-bit value in two halves: bigint is too slow. */
export interface Halves {
  readonly high: number;
  readonly low: number;
}

/** Continues a CRC-64/NVME with more bytes; starts at zeros. */
export function crc64nvme(bytes: Uint8Array, crc: Halves): Halves {
  const table = nvme();
  let high = ~crc.high;
  let low = ~crc.low;
  for (const byte of bytes) {
    const index = ((low ^ byte) & 0xff) * 2;
    low = ((low >>> 8) | (high << 24)) ^ (table[index + 1] ?? 0);
    high = (high >>> 8) ^ (table[index] ?? 0);
  }
  return { high: ~high >>> 0, low: ~low >>> 0 };
}

let nvmeTable: Int32Array | undefined;

/** Table of alternating high and low halves. */
function nvme(): Int32Array {
  if (nvmeTable !== undefined) return nvmeTable;
  const table = new Int32Array(512);
  for (let index = 0; index < 256; index++) {
    let value = BigInt(index);
    for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ 0x9a6c9329ac4bc9b5n : value >> 1n;
    table[index * 2] = Number(value >> 32n) | 0;
    table[index * 2 + 1] = Number(value & 0xffffffffn) | 0;
  }
  nvmeTable = table;
  return table;
}
