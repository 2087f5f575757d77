import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { BundleFile } from "./build-modules.js";
import type { KeptFile } from "./kept-file.js";

const BLOCK_BYTES = 512;
const HEADER_PATH_BYTES = 100;
/** Byte of a gzip header that names the operating system; 255 is unknown. */
const GZIP_SYSTEM_BYTE = 9;
/** Level of compression. */
const LEVEL = 9;

export interface Archive {
  /** Compressed when they are first read: a digest may be known without. */
  readonly bytes: Uint8Array;
  /** SHA-256 in hex. */
  readonly digest: string;
}

/**
 * Packs files into a compressed tar archive; it depends on their paths and contents alone.
 *
 * @param kept file with the digest of the archive that was packed last
 */
export function pack(files: readonly BundleFile[], kept?: KeptFile<string>): Archive {
  const sorted = files.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  const tar = Buffer.concat([...sorted.flatMap(entryOf), Buffer.alloc(2 * BLOCK_BYTES)]);
  let compressed: Uint8Array | undefined;
  const bytes = () => (compressed ??= compress(tar));
  const compute = () => sha256(bytes());
  const digest = kept === undefined ? compute() : kept.get(keyOf(tar), compute);
  return {
    digest,
    get bytes() {
      return bytes();
    },
  };
}

/** The same content may be compressed to other bytes by another version of zlib. */
const keyOf = (tar: Uint8Array): string => `${process.version} ${process.versions.zlib} ${process.arch} ${LEVEL} ${sha256(tar)}`;

function compress(tar: Uint8Array): Uint8Array {
  const bytes = gzipSync(tar, { level: LEVEL });
  bytes[GZIP_SYSTEM_BYTE] = 255;
  return bytes;
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function entryOf({ path, content, executable = false }: BundleFile): Buffer[] {
  const body = [Buffer.from(content), padding(content.length)];
  const entry = [header(path.slice(0, HEADER_PATH_BYTES), { size: content.length, type: "0", executable }), ...body];
  if (Buffer.byteLength(path) <= HEADER_PATH_BYTES) return entry;
  const record = paxRecord("path", path);
  return [header("path", { size: record.length, type: "x", executable: false }), record, padding(record.length), ...entry];
}

/** Encodes a record of a pax header; its length counts itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (String(length).length + Buffer.byteLength(rest) !== length) length = String(length).length + Buffer.byteLength(rest);
  return Buffer.from(`${length}${rest}`);
}

function header(
  path: string,
  { size, type, executable }: { readonly size: number; readonly type: string; readonly executable: boolean },
): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  block.write(path, 0, HEADER_PATH_BYTES);
  block.write(octal(executable ? 0o755 : 0o644, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write("        ", 148);
  block.write(type, 156);
  block.write("ustar\0" + "00", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

const padding = (size: number): Buffer => Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
