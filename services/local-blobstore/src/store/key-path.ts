import { createHash } from "node:crypto";

/**
 * Path of an object file. Parts of the key become directories, the last one a file whose name ends
 * with `~`; directory names never do, so `a` and `a/b` can both exist. Bytes outside a safe set are
 * written as `%XX`, an empty part as `%`. A key with a part too long for the file system is stored
 * under its hash in a separate directory.
 */
export interface KeyPath {
  /** Directory names below the bucket's. */
  readonly folders: readonly string[];
  readonly file: string;
  /** The key cannot be derived from the file name and is stored in the object. */
  readonly hashed: boolean;
}

/** Directory of objects whose keys do not fit into file names; no encoded part has this name. */
export const HASHED_KEYS_DIR = "%long";
const FILE_SUFFIX = "~";
const MAX_NAME_BYTES = 240;
const MAX_PATH_BYTES = 3000;

export interface NameRules {
  /** The file system treats `A` and `a` as the same name. */
  readonly foldsCase: boolean;
}

export function keyPath(key: string, rules: NameRules): KeyPath {
  const parts = key.split("/").map((part) => encodePart(part, rules));
  if (parts.some((part) => part.length > MAX_NAME_BYTES) || parts.join("/").length > MAX_PATH_BYTES) {
    return { folders: [HASHED_KEYS_DIR], file: `${createHash("sha256").update(key).digest("hex")}${FILE_SUFFIX}`, hashed: true };
  }
  return { folders: parts.slice(0, -1), file: `${parts.at(-1) ?? ""}${FILE_SUFFIX}`, hashed: false };
}

/** Decodes a directory or file name to its part of the key; undefined for names of other origin. */
export function decodeName(name: string): { readonly part: string; readonly kind: "folder" | "file" } | undefined {
  const kind = name.endsWith(FILE_SUFFIX) ? "file" : "folder";
  const encoded = kind === "file" ? name.slice(0, -1) : name;
  if (encoded === "%") return { part: "", kind };
  if (!/^(?:[A-Za-z0-9._=,@+!()-]|%[0-9A-F]{2})+$/.test(encoded)) return undefined;
  try {
    return { part: decodeURIComponent(encoded), kind };
  } catch {
    return undefined;
  }
}

function encodePart(part: string, { foldsCase }: NameRules): string {
  if (part === "") return "%";
  if (part === "." || part === "..") return part.replaceAll(".", "%2E");
  const plain = foldsCase ? /[^a-z0-9._=,@+!()-]/u : /[^A-Za-z0-9._=,@+!()-]/u;
  if (!plain.test(part)) return part;
  let encoded = "";
  for (const byte of Buffer.from(part)) {
    const character = String.fromCharCode(byte);
    encoded += plain.test(character) ? `%${byte.toString(16).toUpperCase().padStart(2, "0")}` : character;
  }
  return encoded;
}

/** Compares keys by their UTF-8 bytes, as S3 orders them. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return utf8Rank(x) - utf8Rank(y);
  }
  return a.length - b.length;
}

/** Surrogates encode characters above U+FFFF, but their code units are lower than some others. */
function utf8Rank(codeUnit: number): number {
  return codeUnit >= 0xd800 && codeUnit < 0xe000 ? codeUnit + 0x10000 : codeUnit;
}
