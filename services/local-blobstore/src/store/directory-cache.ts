import { readdir, stat } from "node:fs/promises";
import { BoundedMap } from "@flyte-ts/async";
import { compareKeys, decodeName } from "./key-path.js";
import { isMissing } from "./object-file.js";

/** A directory entry with the part of a key that its name represents. */
export interface DirectoryEntry {
  /** Directories include the trailing slash. */
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
/** Maximum time between two changes that may leave the same modification time. */
const MTIME_RESOLUTION_NS = 2_000_000_000n;

/**
 * Reads directories in key order. Caches the last few large ones until they change, so that paging
 * does not read a large directory for each page.
 */
export class DirectoryCache {
  readonly #listings = new BoundedMap<string, CachedListing>(MAX_CACHED_DIRS);

  /** Empty when the directory does not exist. */
  async read(folder: string): Promise<readonly DirectoryEntry[]> {
    const changedNs = await modificationTime(folder);
    if (changedNs === undefined) return [];
    const known = this.#listings.get(folder);
    if (known?.changedNs === changedNs) return known.entries;
    this.#listings.delete(folder);
    const readNs = BigInt(Date.now()) * 1_000_000n;
    const entries = await readEntries(folder);
    if (entries.length >= MIN_CACHED_ENTRIES && readNs - changedNs > MTIME_RESOLUTION_NS)
      this.#listings.set(folder, { changedNs, entries });
    return entries;
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
