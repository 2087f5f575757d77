import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { BlobAddress } from "./address.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions } from "./blob-store.js";
import { BlobError, BlobTooLarge, BlobUnavailable } from "./errors.js";

type FileAddress = Extract<BlobAddress, { scheme: "file" }>;

const TEMPORARY = ".partial-";

/** Blobs as files of this machine. Folders come and stay by themselves; metadata is not kept. */
export class FileDriver {
  async get(address: FileAddress, { maxBytes }: GetOptions): Promise<Uint8Array | undefined> {
    return guard(address.uri, async () => {
      await using file = await opened(address.path);
      if (file === undefined) return undefined;
      const { size } = await file.handle.stat();
      if (maxBytes !== undefined && size > maxBytes) throw new BlobTooLarge(address.uri, size, maxBytes);
      return file.handle.readFile();
    });
  }

  async put(address: FileAddress, bytes: Uint8Array, { ifNoneMatch }: PutOptions): Promise<"written" | "exists"> {
    return guard(address.uri, () =>
      throughPartial(address.path, async (partial) => {
        await writeDurably(partial, bytes);
        // A link fails where a rename would replace.
        if (ifNoneMatch === true) return (await linked(partial, address.path)) ? "written" : "exists";
        await rename(partial, address.path);
        return "written";
      }),
    );
  }

  async getFile(address: FileAddress, path: string): Promise<boolean> {
    return guard(address.uri, async () => {
      const found = await stat(address.path).catch(absent);
      if (found === undefined || !found.isFile()) return false;
      await copyFile(address.path, path);
      return true;
    });
  }

  async putFile(address: FileAddress, path: string): Promise<void> {
    await guard(address.uri, () =>
      throughPartial(address.path, async (partial) => {
        await copyFile(path, partial);
        await syncPath(partial);
        await rename(partial, address.path);
      }),
    );
  }

  async head(address: FileAddress): Promise<BlobHead | undefined> {
    return guard(address.uri, async () => {
      const found = await stat(address.path).catch(absent);
      if (found === undefined || !found.isFile()) return undefined;
      return { size: found.size, etag: etagOf(found), modifiedAt: found.mtime, metadata: {} };
    });
  }

  async delete(address: FileAddress): Promise<void> {
    await guard(address.uri, () => rm(address.path, { force: true }));
  }

  /** All files whose path starts with the address's path. */
  async *list({ path, uri }: FileAddress): AsyncGenerator<BlobEntry> {
    const folder = path.endsWith("/") ? path : dirname(path);
    const prefix = path.endsWith("/") ? "" : basename(path);
    const scheme = uri.startsWith("file://") ? "file://" : "";
    yield* walk(folder, prefix, scheme);
  }
}

async function* walk(folder: string, prefix: string, scheme: string): AsyncGenerator<BlobEntry> {
  const entries = await guard(`${scheme}${folder}`, async () => (await readdir(folder, { withFileTypes: true }).catch(absent)) ?? []);
  // Folders sort as if their slash were there, as keys of an object store do.
  const sorted = entries
    .filter((entry) => entry.name.startsWith(prefix) && !entry.name.startsWith(TEMPORARY))
    .map((entry) => ({ entry, key: Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key));
  for (const { entry } of sorted) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path, "", scheme);
    else {
      const found = await stat(path).catch(absent);
      if (found?.isFile() === true) yield { uri: `${scheme}${path}`, size: found.size, etag: etagOf(found), modifiedAt: found.mtime };
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

/** Hands `write` a file beside `path` to write to first, and makes what it did with that durable. */
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

/** Makes a file durable, or what happened in a folder. */
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

/** Conditions of the machine that pass. */
const PASSING = ["EMFILE", "ENFILE", "EAGAIN", "EBUSY", "EIO", "ENOSPC", "EDQUOT"];

async function guard<T>(uri: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlobError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    if (PASSING.includes(code(error) ?? "")) throw new BlobUnavailable(uri, reason, { cause: error });
    throw new BlobError(uri, reason, { cause: error });
  }
}
