import { readdir, stat } from "node:fs/promises";
import { compareKeys, decodeName } from "./key-path.js";
import { isMissing } from "./object-file.js";

/** A name in a folder, as the part of keys that it stands for. */
export interface DirectoryEntry {
  /** For folders with the slash that follows. */
  readonly part: string;
  readonly kind: "folder" | "file";
  readonly name: string;
}

interface CachedListing {
  readonly changedNs: bigint;
  readonly entries: readonly DirectoryEntry[];
}

const MIN_CACHED_ENTRIES = 2_000;
const MAX_CACHED_DIRS = 8;
/** Two changes closer together than this may leave a folder the same time stamp. */
const MTIME_RESOLUTION_NS = 2_000_000_000n;

/**
 * Reads folders in the order of keys. The last few large ones are remembered for as
 * long as they do not change, or paging through a large folder would read it anew for
 * each page.
 */
export class DirectoryCache {
  readonly #listings = new Map<string, CachedListing>();

  /** None when there is no such folder. */
  async read(folder: string): Promise<readonly DirectoryEntry[]> {
    const changedNs = await modificationTime(folder);
    if (changedNs === undefined) return [];
    const known = this.#listings.get(folder);
    if (known?.changedNs === changedNs) return known.entries;
    this.#listings.delete(folder);
    const readNs = BigInt(Date.now()) * 1_000_000n;
    const entries = await readEntries(folder);
    if (entries.length >= MIN_CACHED_ENTRIES && readNs - changedNs > MTIME_RESOLUTION_NS) this.#cache(folder, { changedNs, entries });
    return entries;
  }

  #cache(folder: string, remembered: CachedListing): void {
    if (this.#listings.size >= MAX_CACHED_DIRS) {
      const [oldest] = this.#listings.keys();
      if (oldest !== undefined) this.#listings.delete(oldest);
    }
    this.#listings.set(folder, remembered);
  }
}

async function modificationTime(folder: string): Promise<bigint | undefined> {
  try {
    return (await stat(folder, { bigint: true })).mtimeNs;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function readEntries(folder: string): Promise<DirectoryEntry[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  const entries: DirectoryEntry[] = [];
  for (const name of names) {
    const decoded = decodeName(name);
    if (decoded !== undefined)
      entries.push({ part: decoded.kind === "folder" ? `${decoded.part}/` : decoded.part, kind: decoded.kind, name });
  }
  return entries.sort((a, b) => compareKeys(a.part, b.part));
}
