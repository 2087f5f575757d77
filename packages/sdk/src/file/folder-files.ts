import { readdir, readlink, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { ValueError } from "../entity/errors.js";

/**
 * Lists the paths of all files below a folder. Links count as what they lead to.
 * @throws ValueError for a broken link, and for one to a folder that contains it
 */
export async function* folderFiles(folder: string, within: readonly string[] = []): AsyncIterable<string> {
  const real = await realpath(folder);
  if (within.includes(real)) throw new ValueError(`${folder} is a link to a directory that contains it`);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const found = entry.isSymbolicLink() ? await targetOf(path) : entry;
    if (found.isDirectory()) yield* folderFiles(path, [...within, real]);
    else if (found.isFile()) yield path;
  }
}

async function targetOf(path: string) {
  try {
    return await stat(path);
  } catch (cause) {
    throw new ValueError(`${path} is a link to ${await readlink(path)}, which cannot be read: ${String(cause)}`);
  }
}
