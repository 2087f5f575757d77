import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { FileStore } from "./file.js";

/** Files in a local folder, for local runs. Reads `file://`, paths and `https://`. */
export class LocalFileStore implements FileStore {
  private count = 0;

  constructor(private readonly folder: string) {}

  allocate(name = "file"): string {
    return pathToFileURL(join(this.folder, "blobs", String(this.count++), name)).href;
  }

  async *read(uri: string): AsyncIterable<Uint8Array> {
    if (/^https?:/.test(uri)) {
      const response = await fetch(uri);
      if (!response.ok || response.body === null) throw new Error(`${uri} answers ${response.status}`);
      yield* response.body;
    } else {
      yield* createReadStream(pathOf(uri));
    }
  }

  async write(uri: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const path = pathOf(uri);
    await mkdir(dirname(path), { recursive: true });
    await pipeline(content, createWriteStream(path));
  }

  async *list(uri: string): AsyncIterable<string> {
    const root = pathOf(uri);
    const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOTDIR" || error.code === "ENOENT") return [];
      throw error;
    });
    const encoded = (path: string) => (uri.startsWith("file:") ? path.replaceAll(/[%?#]/g, encodeURIComponent) : path);
    const folder = uri.replace(/\/$/, "");
    for (const entry of entries)
      if (entry.isFile()) yield `${folder}/${encoded(relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))}`;
  }

  async scratch(name: string): Promise<string> {
    const folder = join(this.folder, "downloads", String(this.count++));
    await mkdir(folder, { recursive: true });
    return join(folder, name);
  }
}

function pathOf(uri: string): string {
  if (uri.startsWith("file:")) return fileURLToPath(uri);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(uri)) throw new Error(`a local run cannot read ${uri}`);
  return uri;
}
