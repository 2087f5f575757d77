import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { FolderEntries } from "./folder-entries.js";
import { compareKeys, HASHED_FOLDER } from "./key-path.js";
import { isMissing, openObject } from "./object-file.js";

/** A key of a bucket, or the common start of several. */
export type Listed =
  | { readonly kind: "key"; readonly key: string; readonly path: string }
  | { readonly kind: "prefix"; readonly prefix: string };

export interface WalkOptions {
  /** Folder of the bucket. */
  readonly folder: string;
  readonly entries: FolderEntries;
  readonly prefix: string;
  /** Only keys after this one. */
  readonly after: string;
  /** Nothing that starts with this; "" for none. */
  readonly skip: string;
  /** Fold keys that have this after the prefix into their common start; "" for no folding. */
  readonly delimiter: string;
}

/** Keys and common prefixes of a bucket in the order of keys, each once. */
export async function* walk(options: WalkOptions): AsyncGenerator<Listed> {
  // A folder is what the delimiter folds nearly always; then it need not be entered.
  const plain = fold(walkFolder({ path: options.folder, at: "" }, options), options);
  const hashed = fold(walkHashed(options), options);
  let last: string | undefined;
  for await (const item of merge(plain, hashed)) {
    const text = textOf(item);
    if (item.kind === "prefix" && text === last) continue;
    last = item.kind === "prefix" ? text : undefined;
    yield item;
  }
}

/** What an item stands at in the order. */
export function textOf(item: Listed): string {
  return item.kind === "key" ? item.key : item.prefix;
}

async function* fold(items: AsyncIterable<Listed>, { prefix, skip, delimiter }: WalkOptions): AsyncGenerator<Listed> {
  let last: string | undefined;
  for await (const item of items) {
    const text = textOf(item);
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

interface Place {
  readonly path: string;
  /** Start of all keys below it. */
  readonly at: string;
}

async function* walkFolder({ path, at }: Place, options: WalkOptions): AsyncGenerator<Listed> {
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
    const below = walkFolder({ path: join(path, name), at: text }, options);
    if (delimiter === "/" && text.length > prefix.length) yield* firstOf(below);
    else yield* below;
  }
}

async function* firstOf(items: AsyncIterable<Listed>): AsyncGenerator<Listed> {
  for await (const item of items) {
    yield item;
    return;
  }
}

/** Keys that do not fit into names: few, so all are read and sorted. */
async function* walkHashed({ folder, prefix, after }: WalkOptions): AsyncGenerator<Listed> {
  const found: { key: string; path: string }[] = [];
  for (const name of await namesIn(join(folder, HASHED_FOLDER))) {
    const path = join(folder, HASHED_FOLDER, name);
    await using object = await openObject(path);
    const key = object?.info.key;
    if (key?.startsWith(prefix) === true && compareKeys(key, after) > 0) found.push({ key, path });
  }
  for (const { key, path } of found.sort((a, b) => compareKeys(a.key, b.key))) yield { kind: "key", key, path };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function* merge(a: AsyncGenerator<Listed>, b: AsyncGenerator<Listed>): AsyncGenerator<Listed> {
  let [left, right] = [await a.next(), await b.next()];
  while (left.done !== true || right.done !== true) {
    if (right.done === true || (left.done !== true && compareKeys(textOf(left.value), textOf(right.value)) <= 0)) {
      if (left.done === true) return;
      yield left.value;
      left = await a.next();
    } else {
      yield right.value;
      right = await b.next();
    }
  }
}
