import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { FileStore, FlyteDirectory, FlyteFile } from "./file.js";

/** A file at an address. */
export class RemoteFile implements FlyteFile {
  #local: Promise<string> | undefined;
  readonly #files: FileStore;

  constructor(
    readonly uri: string,
    files: FileStore,
  ) {
    this.#files = files;
  }

  path(): Promise<string> {
    this.#local ??= this.#download();
    return this.#local;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  bytes(): Promise<Uint8Array> {
    return readAll(this.stream());
  }

  stream(): AsyncIterable<Uint8Array> {
    return this.#files.read(this.uri);
  }

  async #download(): Promise<string> {
    const path = await this.#files.scratch(nameIn(this.uri));
    await save(this.stream(), path);
    return path;
  }
}

/** A folder at an address. */
export class RemoteDirectory implements FlyteDirectory {
  #local: Promise<string> | undefined;
  readonly #files: FileStore;

  constructor(
    readonly uri: string,
    files: FileStore,
  ) {
    this.#files = files;
  }

  path(): Promise<string> {
    this.#local ??= this.#download();
    return this.#local;
  }

  async *list(): AsyncIterable<FlyteFile> {
    for await (const { uri } of filesIn(this.uri, this.#files)) yield new RemoteFile(uri, this.#files);
  }

  async #download(): Promise<string> {
    const folder = await this.#files.scratch(nameIn(this.uri));
    await mkdir(folder, { recursive: true });
    for await (const { uri, names } of filesIn(this.uri, this.#files)) {
      if (names.includes("..")) throw new Error(`${uri} leads out of its folder`);
      await save(this.#files.read(uri), join(folder, ...names));
    }
    return folder;
  }
}

export interface FileInFolder {
  readonly uri: string;
  /** Folders below the folder, and the name of the file. */
  readonly names: readonly string[];
}

/** Lists the files below a folder, without the objects with which some clients mark folders. */
export async function* filesIn(folder: string, files: FileStore): AsyncIterable<FileInFolder> {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  for await (const uri of files.list(folder)) if (!uri.endsWith("/")) yield { uri, names: uri.slice(prefix.length).split("/") };
}

/** Reads a stream to its end. */
export async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

async function save(content: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await pipeline(content, createWriteStream(path));
}

function nameIn(uri: string): string {
  return basename(uri.replace(/[?#].*$/, "")) || "file";
}
