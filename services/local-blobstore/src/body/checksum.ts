import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { crc32c, crc64nvme } from "./crc.js";

/** Checksum headers of requests, each with its algorithm. */
const ALGORITHMS = {
  "x-amz-checksum-crc32": crc32Checksum,
  "x-amz-checksum-crc32c": crc32cChecksum,
  "x-amz-checksum-crc64nvme": crc64Checksum,
  "x-amz-checksum-sha1": () => hashChecksum("sha1"),
  "x-amz-checksum-sha256": () => hashChecksum("sha256"),
} as const satisfies Record<string, () => Checksum>;

export type ChecksumHeader = keyof typeof ALGORITHMS;

/** An incremental checksum. */
export interface Checksum {
  update(bytes: Uint8Array): void;
  /** Base64, as in headers. */
  digest(): string;
}

export function isChecksumHeader(name: string): name is ChecksumHeader {
  return Object.hasOwn(ALGORITHMS, name);
}

export function createChecksum(header: ChecksumHeader): Checksum {
  return ALGORITHMS[header]();
}

function hashChecksum(algorithm: string): Checksum {
  const hash = createHash(algorithm);
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("base64") };
}

function crc32Checksum(): Checksum {
  let value = 0;
  return { update: (bytes) => (value = crc32(bytes, value)), digest: () => base64(value) };
}

function crc32cChecksum(): Checksum {
  let value = 0;
  return { update: (bytes) => (value = crc32c(bytes, value)), digest: () => base64(value) };
}

function crc64Checksum(): Checksum {
  let value = { high: 0, low: 0 };
  return { update: (bytes) => (value = crc64nvme(bytes, value)), digest: () => base64(value.high, value.low) };
}

function base64(...words: number[]): string {
  const bytes = Buffer.alloc(words.length * 4);
  words.forEach((word, index) => bytes.writeUInt32BE(word, index * 4));
  return bytes.toString("base64");
}
