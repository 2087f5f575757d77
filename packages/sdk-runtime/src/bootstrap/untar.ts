/** File of an archive. */
export interface ArchivedFile {
  /** Relative path with slashes; never leaves the folder of the archive. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly executable: boolean;
}

/** An archive is malformed, or holds more than files below its folder. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

const BLOCK_BYTES = 512;
const MAX_FILES = 200_000;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads the files of a tar archive (ustar, and the paths of pax headers). Folders are implied.
 * Rejects links, devices, paths that leave the folder, and repeated paths.
 *
 * @throws ArchiveError
 */
export function readTar(archive: Uint8Array): ArchivedFile[] {
  const files: ArchivedFile[] = [];
  const paths = new Set<string>();
  let longPath: string | undefined;
  for (let at = 0; at + BLOCK_BYTES <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return files;
    checkHeader(header);
    const size = octal(header.subarray(124, 136));
    const content = archive.subarray(at + BLOCK_BYTES, at + BLOCK_BYTES + size);
    if (content.length < size) throw new ArchiveError("the archive is truncated");
    at += BLOCK_BYTES + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === "x") {
      longPath = paxPath(content);
      continue;
    }
    const path = longPath ?? headerPath(header);
    longPath = undefined;
    if (type === "5") continue;
    if (type !== "0" && type !== "\0") throw new ArchiveError(`${path} is no file, but of tar type ${JSON.stringify(type)}`);
    checkPath(path);
    if (paths.has(path)) throw new ArchiveError(`${path} is in the archive twice`);
    if (paths.add(path).size > MAX_FILES) throw new ArchiveError(`the archive has more than ${MAX_FILES} files`);
    files.push({ path, content, executable: (octal(header.subarray(100, 108)) & 0o100) !== 0 });
  }
  throw new ArchiveError("the archive has no end");
}

/** Accepts relative paths whose segments are names. */
function checkPath(path: string): void {
  const segments = path.split("/");
  const isPlain = segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
  if (!isPlain || path.includes("\\") || path.includes("\0") || /^[a-zA-Z]:/.test(path))
    throw new ArchiveError(`the path ${JSON.stringify(path)} does not stay below the archive's folder`);
}

function checkHeader(header: Uint8Array): void {
  const declared = octal(header.subarray(148, 156));
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  if (sum !== declared) throw new ArchiveError("a header has a wrong checksum");
}

function headerPath(header: Uint8Array): string {
  const name = text(header.subarray(0, 100));
  const prefix = text(header.subarray(345, 500));
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Returns the path of a pax header: records `LENGTH key=value\n`. */
function paxPath(content: Uint8Array): string | undefined {
  let path: string | undefined;
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(32, at);
    const length = Number(text(content.subarray(at, space)));
    if (space < 0 || !Number.isSafeInteger(length) || length <= 0) throw new ArchiveError("a pax header is malformed");
    const record = text(content.subarray(space + 1, at + length - 1));
    if (record.startsWith("path=")) path = record.slice("path=".length);
    at += length;
  }
  return path;
}

function text(field: Uint8Array): string {
  const end = field.indexOf(0);
  try {
    return utf8.decode(end < 0 ? field : field.subarray(0, end));
  } catch {
    throw new ArchiveError("a header is not UTF-8");
  }
}

function octal(field: Uint8Array): number {
  const digits = text(field).trim();
  if (!/^[0-7]*$/.test(digits)) throw new ArchiveError("a header has a malformed number");
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}
