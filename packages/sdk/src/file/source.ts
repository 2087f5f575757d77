import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename, relative, sep } from "node:path";
import type { Encoding } from "../codec/encoding.js";
import { mismatch, type Place } from "../codec/place.js";
import { isRecord } from "../codec/primitive.js";
import { ValueError } from "../entity/errors.js";
import type { FileType } from "../type/type.js";
import type { FileStore } from "./file.js";
import { folderFiles } from "./folder-files.js";

const WANTED = "a file: { path }, { uri }, { content } or a FlyteFile";

/** Returns the address of a file; a new file is written by the encoding. */
export function fileUri(value: unknown, type: Pick<FileType, "format">, encoding: Encoding, place: Place): string {
  if (!isRecord(value)) throw mismatch(place, WANTED, value);
  if (typeof value["uri"] === "string") return value["uri"];
  if (value["content"] === undefined && typeof value["path"] !== "string") throw mismatch(place, WANTED, value);
  const files = encoding.store();
  const name = typeof value["path"] === "string" ? basename(value["path"]) : `content${type.format === "" ? "" : `.${type.format}`}`;
  const uri = files.allocate(name);
  encoding.later(() => files.write(uri, contentOf(value)));
  return uri;
}

/** Returns the address of a folder; a local one is written by the encoding. */
export function directoryUri(value: unknown, encoding: Encoding, place: Place): string {
  const wanted = "a directory: { path }, { uri } or a FlyteDirectory";
  if (!isRecord(value)) throw mismatch(place, wanted, value);
  if (typeof value["uri"] === "string") return value["uri"];
  const path = value["path"];
  if (typeof path !== "string") throw mismatch(place, wanted, value);
  const files = encoding.store();
  const uri = files.allocate(basename(path));
  encoding.later(() => writeFolder(path, uri, files));
  return uri;
}

/** Hash of a file's content, by which the cache compares it. */
export async function contentHash(value: unknown, files: FileStore): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of contentOf(isRecord(value) ? value : {}, files)) hash.update(part);
  return hash.digest("base64url");
}

async function* contentOf(value: Readonly<Record<string, unknown>>, files?: FileStore): AsyncIterable<Uint8Array> {
  const { content, path, uri } = value;
  if (typeof content === "string") yield new TextEncoder().encode(content);
  else if (content instanceof Uint8Array) yield content;
  else if (isStream(content)) yield* content;
  else if (typeof uri === "string" && files !== undefined) yield* files.read(uri);
  else if (typeof path === "string") yield* createReadStream(path);
  else throw new ValueError("the content of a file must be a string, bytes or a stream of bytes");
}

function isStream(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

async function writeFolder(path: string, uri: string, files: FileStore): Promise<void> {
  for await (const file of folderFiles(path)) {
    await files.write(`${uri}/${relative(path, file).split(sep).join("/")}`, createReadStream(file));
  }
}
