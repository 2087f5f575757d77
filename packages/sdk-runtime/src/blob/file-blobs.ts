import { createReadStream } from "node:fs";
import { mkdir, open, opendir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type BlobAccess, BlobFailure, type ByteRange, checkSize, collect, type ListedBlob } from "./blob-access.js";
import { writePieces } from "./write-pieces.js";

/** Blobs at `file:///path` and at absolute paths. */
export const fileBlobs: BlobAccess = {
  read: async (uri, { maxBytes }) => {
    const size = await fileBlobs.size(uri);
    if (size === undefined) return undefined;
    checkSize(uri, size, maxBytes);
    return collect(uri, createReadStream(pathOf(uri)), maxBytes);
  },
  stream: async (uri, { offset = 0, length }: ByteRange = {}) => {
    if ((await fileBlobs.size(uri)) === undefined) return undefined;
    if (length === 0) return emptyStream();
    return createReadStream(pathOf(uri), { start: offset, ...(length !== undefined && { end: offset + length - 1 }) });
  },
  write: (uri, bytes) => fileBlobs.writeStream(uri, singlePiece(bytes)),
  writeStream: async (uri, pieces) => {
    const path = pathOf(uri);
    const staged = `${path}.${process.pid}.part`;
    const write = async (watched: AsyncIterable<Uint8Array>): Promise<void> => {
      await mkdir(dirname(path), { recursive: true });
      // A stream that opens the file itself may create it after the removal.
      const file = await open(staged, "w");
      await pipeline(watched, file.createWriteStream());
      await rename(staged, path);
    };
    try {
      await writePieces(pieces, write, (cause) => failure(uri, cause));
    } catch (error) {
      await rm(staged, { force: true });
      throw error;
    }
  },
  size: async (uri) => {
    try {
      const found = await stat(pathOf(uri));
      return found.isFile() ? found.size : undefined;
    } catch (cause) {
      if (isMissing(cause)) return undefined;
      throw failure(uri, cause);
    }
  },
  list: (prefix) => listFiles(prefix),
};

async function* listFiles(prefix: string): AsyncIterable<ListedBlob> {
  const path = pathOf(prefix);
  const root = prefix.slice(0, prefix.length - path.length);
  const folder = path.endsWith("/") ? path : dirname(path);
  const paths: string[] = [];
  try {
    for await (const found of walk(folder)) if (found.startsWith(path)) paths.push(found);
    for (const found of paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
      yield { uri: root + found, size: (await stat(found)).size };
  } catch (cause) {
    throw failure(prefix, cause);
  }
}

async function* walk(folder: string): AsyncIterable<string> {
  try {
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) yield* walk(path);
      else if (entry.isFile()) yield path;
    }
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
  }
}

async function* singlePiece(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

async function* emptyStream(): AsyncIterable<Uint8Array> {}

/** Returns the path of a file's address. Keys are not decoded, as in Flyte. */
function pathOf(uri: string): string {
  const path = uri.startsWith("file://") ? uri.slice("file://".length) : uri;
  if (!path.startsWith("/") || path.split("/").includes("..") || path.includes("\0"))
    throw new BlobFailure(uri, "the path must be absolute, without .. and NUL", { transient: false });
  return path;
}

const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");

/** Reports full disks and I/O errors as transient: another machine may run the next attempt. */
function failure(uri: string, cause: unknown): BlobFailure {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  return new BlobFailure(uri, message, { transient: ["ENOSPC", "EIO", "EDQUOT", "EMFILE", "ENFILE"].includes(code), cause });
}
