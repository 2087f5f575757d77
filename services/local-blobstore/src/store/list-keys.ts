import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DirectoryCache } from "./directory-cache.js";
import { compareKeys, HASHED_KEYS_DIR, keyPath, type NameRules } from "./key-path.js";
import { isMissing, openObject } from "./object-file.js";

/** A key of a bucket, or the common prefix of several. */
export type ListEntry =
  | { readonly kind: "key"; readonly key: string; readonly path: string }
  | { readonly kind: "prefix"; readonly prefix: string };

export interface ListKeysOptions {
  /** Directory of the bucket. */
  readonly folder: string;
  readonly entries: DirectoryCache;
  readonly rules: NameRules;
  /** The bucket may have keys that do not fit into file names. */
  readonly hashed: boolean;
  readonly prefix: string;
  /** List only keys after this one. */
  readonly after: string;
  /** Skip keys with this prefix; empty: skip none. */
  readonly skip: string;
  /** Group keys that contain this after the prefix; empty: no grouping. */
  readonly delimiter: string;
}

/** Lists keys and common prefixes of a bucket in key order, each once. */
export async function* listKeys(options: ListKeysOptions): AsyncGenerator<ListEntry> {
  // Groups by delimiter usually equal directories, which then need not be read.
  const plain = foldPrefixes(listPlainKeys(options), options);
  const found = options.hashed ? mergeSorted(plain, foldPrefixes(listHashedKeys(options), options)) : plain;
  let last: string | undefined;
  for await (const item of found) {
    const text = sortText(item);
    if (item.kind === "prefix" && text === last) continue;
    last = item.kind === "prefix" ? text : undefined;
    yield item;
  }
}

/** Returns the text by which entries are ordered. */
export function sortText(item: ListEntry): string {
  return item.kind === "key" ? item.key : item.prefix;
}

async function* foldPrefixes(items: AsyncIterable<ListEntry>, { prefix, skip, delimiter }: ListKeysOptions): AsyncGenerator<ListEntry> {
  let last: string | undefined;
  for await (const item of items) {
    const text = sortText(item);
    if (skip !== "" && text.startsWith(skip)) continue;
    const end = delimiter === "" ? -1 : text.indexOf(delimiter, prefix.length);
    if (end < 0) {
      yield item;
      continue;
    }
    const common = text.slice(0, end + delimiter.length);
    if (common !== last) yield { kind: "prefix", prefix: common };
    last = common;
  }
}

interface DirectoryPosition {
  readonly path: string;
  /** Prefix of all keys below it. */
  readonly at: string;
}

/**
 * Lists keys that fit into file names. Begins in the directory that the prefix names: the ones
 * above it may have very many entries.
 */
async function* listPlainKeys(options: ListKeysOptions): AsyncGenerator<ListEntry> {
  const at = options.prefix.slice(0, options.prefix.lastIndexOf("/") + 1);
  const { folders, hashed } = keyPath(`${at}-`, options.rules);
  if (!hashed) yield* listDirectory({ path: join(options.folder, ...folders), at }, options);
}

async function* listDirectory({ path, at }: DirectoryPosition, options: ListKeysOptions): AsyncGenerator<ListEntry> {
  const { prefix, after, skip, delimiter } = options;
  for (const { part, kind, name } of await options.entries.read(path)) {
    const text = at + part;
    if (kind === "file") {
      if (text.startsWith(prefix) && compareKeys(text, after) > 0) yield { kind: "key", key: text, path: join(path, name) };
      continue;
    }
    if (!text.startsWith(prefix) && !prefix.startsWith(text)) continue;
    if (!after.startsWith(text) && compareKeys(text, after) <= 0) continue;
    if (skip !== "" && text.startsWith(skip)) continue;
    const below = listDirectory({ path: join(path, name), at: text }, options);
    if (delimiter === "/" && text.length > prefix.length) yield* takeFirst(below);
    else yield* below;
  }
}

async function* takeFirst(items: AsyncIterable<ListEntry>): AsyncGenerator<ListEntry> {
  for await (const item of items) {
    yield item;
    return;
  }
}

/** Lists keys that do not fit into file names: few, so all are read and sorted. */
async function* listHashedKeys({ folder, prefix, after }: ListKeysOptions): AsyncGenerator<ListEntry> {
  const found: { key: string; path: string }[] = [];
  for (const name of await readNames(join(folder, HASHED_KEYS_DIR))) {
    const path = join(folder, HASHED_KEYS_DIR, name);
    await using object = await openObject(path);
    const key = object?.info.key;
    if (key?.startsWith(prefix) === true && compareKeys(key, after) > 0) found.push({ key, path });
  }
  for (const { key, path } of found.sort((a, b) => compareKeys(a.key, b.key))) yield { kind: "key", key, path };
}

async function readNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function* mergeSorted(a: AsyncGenerator<ListEntry>, b: AsyncGenerator<ListEntry>): AsyncGenerator<ListEntry> {
  let [left, right] = [await a.next(), await b.next()];
  while (left.done !== true || right.done !== true) {
    if (right.done === true || (left.done !== true && compareKeys(sortText(left.value), sortText(right.value)) <= 0)) {
      if (left.done === true) return;
      yield left.value;
      left = await a.next();
    } else {
      yield right.value;
      right = await b.next();
    }
  }
}
