import { readdir, stat } from "node:fs/promises";
import { BoundedMap } from "@flyte-ts/async";
import { compareKeys, decodeName } from "./key-path.js";
import { isMissing } from "./object-file.js";

/** A name in a folder, as the part of keys that it stands for. */
export interface FolderEntry {
  /** For folders with the slash that follows. */
  readonly part: string;
  readonly kind: "folder" | "file";
  readonly name: string;
}

interface Remembered {
  readonly changedNs: bigint;
  readonly entries: readonly FolderEntry[];
}

const MIN_REMEMBERED = 2_000;
const MAX_FOLDERS = 8;
/** Two changes closer together than this may leave a folder the same time stamp. */
const STAMP_GRAIN_NS = 2_000_000_000n;

/**
 * Reads folders in the order of keys. The last few large ones are remembered for as
 * long as they do not change, or paging through a large folder would read it anew for
 * each page.
 */
export class FolderEntries {
  readonly #remembered = new BoundedMap<string, Remembered>(MAX_FOLDERS);

  /** None when there is no such folder. */
  async read(folder: string): Promise<readonly FolderEntry[]> {
    const changedNs = await changeTime(folder);
    if (changedNs === undefined) return [];
    const known = this.#remembered.get(folder);
    if (known?.changedNs === changedNs) return known.entries;
    this.#remembered.delete(folder);
    const readNs = BigInt(Date.now()) * 1_000_000n;
    const entries = await readEntries(folder);
    if (entries.length >= MIN_REMEMBERED && readNs - changedNs > STAMP_GRAIN_NS) this.#remembered.set(folder, { changedNs, entries });
    return entries;
  }
}

async function changeTime(folder: string): Promise<bigint | undefined> {
  try {
    return (await stat(folder, { bigint: true })).mtimeNs;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function readEntries(folder: string): Promise<FolderEntry[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  const entries: FolderEntry[] = [];
  for (const name of names) {
    const decoded = decodeName(name);
    if (decoded !== undefined)
      entries.push({ part: decoded.kind === "folder" ? `${decoded.part}/` : decoded.part, kind: decoded.kind, name });
  }
  return entries.sort((a, b) => compareKeys(a.part, b.part));
}
