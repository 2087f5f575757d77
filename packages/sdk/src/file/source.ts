import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename, relative, resolve, sep } from "node:path";
import type { Encoding } from "../codec/encoding.js";
import { mismatch, type Place } from "../codec/place.js";
import { isRecord } from "../codec/primitive.js";
import { ValueError } from "../entity/errors.js";
import type { FileType } from "../type/type.js";
import type { FileStore } from "./file.js";
import { folderFiles } from "./folder-files.js";

const WANTED = "a file: { path }, { uri }, { content } or a FlyteFile";

interface FileForm extends Pick<FileType, "format"> {
  /** Receives the hash of the content, by which the cache compares a file. */
  readonly onHash?: ((hash: string) => void) | undefined;
}

/** Returns the address of a file; a new file is written, and hashed, by the encoding. */
export function fileUri(value: unknown, { format, onHash }: FileForm, encoding: Encoding, place: Place): string {
  if (!isRecord(value)) throw mismatch(place, WANTED, value);
  if (typeof value["uri"] === "string") {
    const { uri } = value;
    if (onHash !== undefined) encoding.later(() => drain(hashed(encoding.store().read(uri), onHash)));
    return uri;
  }
  if (value["content"] === undefined && typeof value["path"] !== "string") throw mismatch(place, WANTED, value);
  const files = encoding.store();
  const name = typeof value["path"] === "string" ? basename(value["path"]) : `content${format === "" ? "" : `.${format}`}`;
  const uri = files.allocate(name);
  // A stream can be read only once: it is hashed while it is written.
  encoding.later(() => files.write(uri, onHash === undefined ? contentOf(value) : hashed(contentOf(value), onHash)));
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
  const uri = files.allocate(basename(resolve(path)));
  encoding.later(() => writeFolder(path, uri, files));
  return uri;
}

/** Yields the content, and hands on its hash at its end. */
async function* hashed(content: AsyncIterable<Uint8Array>, onHash: (hash: string) => void): AsyncIterable<Uint8Array> {
  const hash = createHash("sha256");
  for await (const part of content) {
    hash.update(part);
    yield part;
  }
  onHash(hash.digest("base64url"));
}

async function drain(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}

async function* contentOf({ content, path }: Readonly<Record<string, unknown>>): AsyncIterable<Uint8Array> {
  if (typeof content === "string") yield new TextEncoder().encode(content);
  else if (content instanceof Uint8Array) yield content;
  else if (isStream(content)) yield* content;
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
