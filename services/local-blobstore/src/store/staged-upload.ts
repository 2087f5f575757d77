import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { encodeTail, isMissing, type ObjectInfo } from "./object-file.js";

const BUFFER_BYTES = 256 * 1024;
/** Each needs somebody else who deletes the last object of the folder at that moment. */
const MAX_MOVE_RETRIES = 100;

/** An object on its way in: content goes to a temporary file, which becomes the object with one rename. */
export class StagedUpload {
  readonly #path: string;
  #handle: FileHandle | undefined;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(folder: string) {
    this.#path = join(folder, randomUUID());
  }

  /** Small objects reach the disk in one write, large ones as they come. */
  async write(piece: Buffer): Promise<void> {
    this.#pending.push(piece);
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes >= BUFFER_BYTES) await this.#flush();
  }

  /** Makes the content durable; after it, only moveTo or discard. */
  async finish(info: ObjectInfo): Promise<void> {
    this.#pending.push(encodeTail(info));
    await this.#flush();
    await this.#handle?.datasync();
    await this.#close();
  }

  /** Puts the object in its place, over what was there, durably. */
  async moveTo(path: string): Promise<void> {
    const folder = dirname(path);
    for (let retries = 0; ; retries++) {
      try {
        await rename(this.#path, path);
        break;
      } catch (error) {
        // The folder is not there yet, or was just now removed because its last object was; so may those above it be.
        if (!isMissing(error) || retries === MAX_MOVE_RETRIES) throw error;
        await createDirDurably(folder).catch(ignoreMissing);
      }
    }
    await syncDir(folder);
  }

  /** Drops what is left of it; nothing after moveTo. */
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

/** Makes a folder and those above it; each new name is durable. */
export async function createDirDurably(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let path = folder; path.length >= first.length; path = dirname(path)) await syncDir(dirname(path)).catch(ignoreMissing);
}

/** Makes names in a folder durable. */
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
