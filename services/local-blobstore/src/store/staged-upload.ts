import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { encodeTail, isMissing, type ObjectInfo } from "./object-file.js";

const BUFFER_BYTES = 256 * 1024;
/** Each retry means that a concurrent delete has just removed the empty directory. */
const MAX_MOVE_RETRIES = 100;

/** An object being written: content goes to a temporary file that a rename makes visible. */
export class StagedUpload {
  readonly #path: string;
  #handle: FileHandle | undefined;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(folder: string) {
    this.#path = join(folder, randomUUID());
  }

  /** Buffers content: small objects reach the disk in one write. */
  async write(piece: Buffer): Promise<void> {
    this.#pending.push(piece);
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes >= BUFFER_BYTES) await this.#flush();
  }

  /** Makes the content durable; only moveTo or discard may follow. */
  async finish(info: ObjectInfo): Promise<void> {
    this.#pending.push(encodeTail(info));
    await this.#flush();
    await this.#handle?.datasync();
    await this.#close();
  }

  /** Renames the file to its final path, replacing an existing object, durably. */
  async moveTo(path: string): Promise<void> {
    const folder = dirname(path);
    for (let retries = 0; ; retries++) {
      try {
        await rename(this.#path, path);
        break;
      } catch (error) {
        // The directory, or one of its parents, does not exist yet or was removed with its last
        // object.
        if (!isMissing(error) || retries === MAX_MOVE_RETRIES) throw error;
        await createDirDurably(folder).catch(ignoreMissing);
      }
    }
    await syncDir(folder);
  }

  /** Deletes the temporary file; no effect after moveTo. */
  async discard(): Promise<void> {
    await this.#close();
    await rm(this.#path, { force: true });
  }

  async #flush(): Promise<void> {
    this.#handle ??= await open(this.#path, "wx");
    const pieces = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    const all = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    if (all !== undefined) await this.#handle.appendFile(all);
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

/** Creates a directory and its parents, each durably. */
export async function createDirDurably(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let path = folder; path.length >= first.length; path = dirname(path)) await syncDir(dirname(path)).catch(ignoreMissing);
}

/** Makes new names in a directory durable. */
export async function syncDir(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}
