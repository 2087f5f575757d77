import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Encoding } from "@flyte-ts/rpc";
import { contentTypeOf } from "./content-type.js";

/** A file as it was when the folder was listed. */
export interface StoredFile {
  /** Path without symbolic links. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** A file that is served, and its compressed forms. */
export interface ConsoleFile extends StoredFile {
  readonly contentType: string;
  /** Weak entity tag of the content. */
  readonly entityTag: string;
  readonly compressed: Readonly<Partial<Record<Encoding, StoredFile>>>;
}

/** Files by their path in a URL, percent-encoded, relative to the folder. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

const SUFFIXES: Readonly<Record<Encoding, string>> = { br: ".br", gzip: ".gz" };
const MAX_FILES = 10_000;
const TAG_LENGTH = 22;

/**
 * Lists the files below a folder. `NAME.br` and `NAME.gz` are forms of the file NAME beside them.
 * Names that begin with a dot and symbolic links that leave the folder are left out.
 *
 * @throws Error when the folder cannot be read, has no index.html, or has more than 10,000 files.
 */
export async function readConsoleFolder(folder: string): Promise<ConsoleFiles> {
  const root = await realpath(folder).catch((cause: unknown) => {
    throw new Error(`console.folder: ${folder} cannot be read`, { cause });
  });
  const stored = await listFiles(root);
  if (!stored.has("index.html")) throw new Error(`console.folder: ${folder} has no index.html`);
  const files = new Map<string, ConsoleFile>();
  for (const [name, file] of stored) {
    if (Object.values(SUFFIXES).some((suffix) => name.endsWith(suffix) && stored.has(name.slice(0, -suffix.length)))) continue;
    const [br, gzip] = [stored.get(`${name}${SUFFIXES.br}`), stored.get(`${name}${SUFFIXES.gzip}`)];
    const compressed = { ...(br && { br }), ...(gzip && { gzip }) };
    files.set(encodeURI(name), { ...file, contentType: contentTypeOf(name), entityTag: await entityTagOf(file.path), compressed });
  }
  return files;
}

async function listFiles(root: string): Promise<Map<string, StoredFile>> {
  const found = new Map<string, StoredFile>();
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory()) await visit(path);
      else {
        const file = await storedFile(path, root);
        if (file !== undefined) found.set(relative(root, path).replaceAll(sep, "/"), file);
      }
      if (found.size > MAX_FILES) throw new Error(`console.folder: ${root} has more than ${MAX_FILES} files`);
    }
  };
  await visit(root);
  return found;
}

/** Returns a file inside the root; undefined for anything else, as a link to another folder. */
async function storedFile(path: string, root: string): Promise<StoredFile | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined || !real.startsWith(`${root}${sep}`)) return undefined;
  const status = await stat(real);
  return status.isFile() ? { path: real, bytes: status.size, modifiedMs: status.mtimeMs } : undefined;
}

async function entityTagOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return `W/"${hash.digest("base64url").slice(0, TAG_LENGTH)}"`;
}
