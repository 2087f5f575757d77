const encoder = new TextEncoder();

/** FNV-1a, 32 bit, over the UTF-8 bytes of `text`; unsigned. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // Names are nearly always ASCII; for others the whole text is encoded.
    if (code > 0x7f) return fnv32aBytes(encoder.encode(text));
    hash = Math.imul(hash ^ code, 0x01000193);
  }
  return hash >>> 0;
}

function fnv32aBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** FNV-1a, 64 bit, over the UTF-8 bytes of `text`; unsigned. */
export function fnv64a(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of encoder.encode(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash;
}

/** FNV-1, 64 bit, over the UTF-8 bytes of `text`; unsigned. */
export function fnv64(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of encoder.encode(text)) hash = ((hash * 0x100000001b3n) & 0xffffffffffffffffn) ^ BigInt(byte);
  return hash;
}
