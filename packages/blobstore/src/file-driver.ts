import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { BlobAddress } from "./address.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions } from "./blob-store.js";
import type { BlobDriver } from "./driver.js";
import { BlobTooLarge } from "./errors.js";
import { guard } from "./guard.js";

const TEMPORARY = ".partial-";

/** Blobs as local files. Folders are created as needed and never removed; metadata is not stored. */
export class FileDriver implements BlobDriver {
  async get(address: BlobAddress, { maxBytes }: GetOptions): Promise<Uint8Array | undefined> {
    return guarded(address.uri, async () => {
      await using file = await opened(address.key);
      if (file === undefined) return undefined;
      const { size } = await file.handle.stat();
      if (maxBytes !== undefined && size > maxBytes) throw new BlobTooLarge(address.uri, size, maxBytes);
      return file.handle.readFile();
    });
  }

  async put(address: BlobAddress, bytes: Uint8Array, { ifNoneMatch }: PutOptions): Promise<"written" | "exists"> {
    return guarded(address.uri, () =>
      throughPartial(address.key, async (partial) => {
        await writeDurably(partial, bytes);
        // A link fails where a rename would replace.
        if (ifNoneMatch === true) return (await linked(partial, address.key)) ? "written" : "exists";
        await rename(partial, address.key);
        return "written";
      }),
    );
  }

  async getFile(address: BlobAddress, path: string): Promise<boolean> {
    return guarded(address.uri, async () => {
      const found = await stat(address.key).catch(absent);
      if (found === undefined || !found.isFile()) return false;
      await copyFile(address.key, path);
      return true;
    });
  }

  async putFile(address: BlobAddress, path: string): Promise<void> {
    await guarded(address.uri, () =>
      throughPartial(address.key, async (partial) => {
        await copyFile(path, partial);
        await syncPath(partial);
        await rename(partial, address.key);
      }),
    );
  }

  async head(address: BlobAddress): Promise<BlobHead | undefined> {
    return guarded(address.uri, async () => {
      const found = await stat(address.key).catch(absent);
      if (found === undefined || !found.isFile()) return undefined;
      return { size: found.size, etag: etagOf(found), modifiedAt: found.mtime, metadata: {} };
    });
  }

  async delete(address: BlobAddress): Promise<void> {
    await guarded(address.uri, () => rm(address.key, { force: true }));
  }

  /** Lists all files whose path starts with the address's path. */
  async *list({ key: path, root }: BlobAddress): AsyncGenerator<BlobEntry> {
    const folder = path.endsWith("/") ? path : dirname(path);
    const prefix = path.endsWith("/") ? "" : basename(path);
    yield* walk(folder, prefix, root);
  }
}

async function* walk(folder: string, prefix: string, root: string): AsyncGenerator<BlobEntry> {
  const entries = await guarded(`${root}${folder}`, async () => (await readdir(folder, { withFileTypes: true }).catch(absent)) ?? []);
  // Sorts folders as if they ended with a slash, like keys of an object store.
  const sorted = entries
    .filter((entry) => entry.name.startsWith(prefix) && !entry.name.startsWith(TEMPORARY))
    .map((entry) => ({ entry, key: Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key));
  for (const { entry } of sorted) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path, "", root);
    else {
      const found = await stat(path).catch(absent);
      if (found?.isFile() === true) yield { uri: `${root}${path}`, size: found.size, etag: etagOf(found), modifiedAt: found.mtime };
    }
  }
}

function etagOf({ size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): string {
  return `${size.toString(16)}-${mtimeMs.toString(16)}`;
}

async function opened(path: string): Promise<(AsyncDisposable & { readonly handle: FileHandle }) | undefined> {
  const handle = await open(path, "r").catch(absent);
  return handle === undefined ? undefined : { handle, [Symbol.asyncDispose]: () => handle.close() };
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, "wx");
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (code(error) === "EEXIST") return false;
    throw error;
  }
}

/** Lets `write` create a temporary file beside `path` and move it there, then syncs the folder. */
async function throughPartial<T>(path: string, write: (partial: string) => Promise<T>): Promise<T> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const partial = join(folder, `${TEMPORARY}${randomUUID()}`);
  let result: T;
  try {
    result = await write(partial);
  } finally {
    await rm(partial, { force: true });
  }
  await syncPath(folder);
  return result;
}

/** Syncs a file, or the entries of a folder. */
async function syncPath(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function absent(error: unknown): undefined {
  if (["ENOENT", "ENOTDIR"].includes(code(error) ?? "")) return undefined;
  throw error;
}

function code(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** Transient errors of the system. */
const PASSING = ["EMFILE", "ENFILE", "EAGAIN", "EBUSY", "EIO", "ENOSPC", "EDQUOT"];

function guarded<T>(uri: string, work: () => Promise<T>): Promise<T> {
  return guard(uri, (error) => PASSING.includes(code(error) ?? ""), work);
}
