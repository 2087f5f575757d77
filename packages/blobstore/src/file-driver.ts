import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { BlobLocation } from "./blob-uri.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions } from "./blob-store.js";
import type { BlobDriver } from "./driver.js";
import { BlobTooLargeError } from "./errors.js";
import { mapBlobErrors } from "./map-errors.js";

const TEMPORARY_PREFIX = ".partial-";

/**
 * Blobs as local files. Folders are created as needed and never removed; metadata is not stored.
 */
export class FileDriver implements BlobDriver {
  async get(location: BlobLocation, { maxBytes }: GetOptions): Promise<Uint8Array | undefined> {
    return mapErrors(location.uri, async () => {
      await using file = await openIfPresent(location.key);
      if (file === undefined) return undefined;
      const { size } = await file.handle.stat();
      if (maxBytes !== undefined && size > maxBytes) throw new BlobTooLargeError(location.uri, size, maxBytes);
      return file.handle.readFile();
    });
  }

  async put(location: BlobLocation, bytes: Uint8Array, { ifAbsent }: PutOptions): Promise<"written" | "exists"> {
    return mapErrors(location.uri, () =>
      writeAtomically(location.key, async (partial) => {
        await writeAndSync(partial, bytes);
        // Creating a hard link fails when the file exists; a rename would replace the file.
        if (ifAbsent === true) return (await linkIfAbsent(partial, location.key)) ? "written" : "exists";
        await rename(partial, location.key);
        return "written";
      }),
    );
  }

  async getFile(location: BlobLocation, path: string): Promise<boolean> {
    return mapErrors(location.uri, async () => {
      const stats = await stat(location.key).catch(undefinedIfMissing);
      if (stats === undefined || !stats.isFile()) return false;
      await copyFile(location.key, path);
      return true;
    });
  }

  async putFile(location: BlobLocation, path: string): Promise<void> {
    await mapErrors(location.uri, () =>
      writeAtomically(location.key, async (partial) => {
        await copyFile(path, partial);
        await fsyncPath(partial);
        await rename(partial, location.key);
      }),
    );
  }

  async head(location: BlobLocation): Promise<BlobHead | undefined> {
    return mapErrors(location.uri, async () => {
      const stats = await stat(location.key).catch(undefinedIfMissing);
      if (stats === undefined || !stats.isFile()) return undefined;
      return { size: stats.size, etag: etagOf(stats), modifiedAt: stats.mtime, metadata: {} };
    });
  }

  async delete(location: BlobLocation): Promise<void> {
    await mapErrors(location.uri, () => rm(location.key, { force: true }));
  }

  /** Lists all files whose path starts with the address's path. */
  async *list({ key: path, root }: BlobLocation): AsyncGenerator<BlobEntry> {
    const dir = path.endsWith("/") ? path : dirname(path);
    const prefix = path.endsWith("/") ? "" : basename(path);
    yield* listDir(dir, prefix, root);
  }
}

async function* listDir(dir: string, prefix: string, root: string): AsyncGenerator<BlobEntry> {
  const entries = await mapErrors(
    `${root}${dir}`,
    async () => (await readdir(dir, { withFileTypes: true }).catch(undefinedIfMissing)) ?? [],
  );
  // Sorts folders as if they ended with a slash, like keys of an object store.
  const sorted = entries
    .filter((entry) => entry.name.startsWith(prefix) && !entry.name.startsWith(TEMPORARY_PREFIX))
    .map((entry) => ({ entry, key: Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key));
  for (const { entry } of sorted) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* listDir(path, "", root);
    else {
      const stats = await stat(path).catch(undefinedIfMissing);
      if (stats?.isFile() === true) yield { uri: `${root}${path}`, size: stats.size, etag: etagOf(stats), modifiedAt: stats.mtime };
    }
  }
}

function etagOf({ size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): string {
  return `${size.toString(16)}-${mtimeMs.toString(16)}`;
}

async function openIfPresent(path: string): Promise<(AsyncDisposable & { readonly handle: FileHandle }) | undefined> {
  const handle = await open(path, "r").catch(undefinedIfMissing);
  return handle === undefined ? undefined : { handle, [Symbol.asyncDispose]: () => handle.close() };
}

async function writeAndSync(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, "wx");
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function linkIfAbsent(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Lets `write` create a temporary file beside `path` and move it there, then syncs the folder. */
async function writeAtomically<T>(path: string, write: (partial: string) => Promise<T>): Promise<T> {
  const dir = dirname(path);
  await mkdir(dir, { recursive: true });
  const partial = join(dir, `${TEMPORARY_PREFIX}${randomUUID()}`);
  let result: T;
  try {
    result = await write(partial);
  } finally {
    await rm(partial, { force: true });
  }
  await fsyncPath(dir);
  return result;
}

/** Syncs a file, or the entries of a folder. */
async function fsyncPath(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
  throw error;
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** Transient errors of the system. */
const TRANSIENT_CODES = ["EMFILE", "ENFILE", "EAGAIN", "EBUSY", "EIO", "ENOSPC", "EDQUOT"];

function mapErrors<T>(uri: string, operation: () => Promise<T>): Promise<T> {
  return mapBlobErrors(uri, (error) => TRANSIENT_CODES.includes(errorCode(error) ?? ""), operation);
}
