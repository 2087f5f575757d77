import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { CopilotError } from "../copilot-error.js";
import { linkTarget } from "./link-target.js";

/** A file of a folder. */
export interface FolderFile {
  /** Path below the folder. */
  readonly name: string;
  /** Real path. */
  readonly path: string;
}

interface Folder {
  readonly name: string;
  readonly path: string;
  /** Real paths of the folders that contain it, and its own. */
  readonly within: readonly string[];
}

/** Maximum number of links to folders: nested ones multiply the files. */
const MAX_FOLDER_LINKS = 1_000;

/**
 * Lists the files of a folder. Links to files and folders below `root` count as what they lead to.
 * @throws CopilotError for a link that is broken, leads elsewhere or to a folder that contains it.
 */
export async function listFiles(folder: string, root: string): Promise<readonly FolderFile[]> {
  const path = await realpath(folder);
  const files: FolderFile[] = [];
  const open: Folder[] = [{ name: "", path, within: [path] }];
  let links = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of await readdir(next.path, { withFileTypes: true })) {
      const name = join(next.name, entry.name);
      const isLink = entry.isSymbolicLink();
      const found = isLink ? await linkTarget(join(next.path, entry.name), root) : join(next.path, entry.name);
      const type = isLink ? await stat(found) : entry;
      if (type.isFile()) files.push({ name, path: found });
      if (!type.isDirectory()) continue;
      if (isLink && ++links > MAX_FOLDER_LINKS)
        throw new CopilotError("USER", `${folder} has more than ${MAX_FOLDER_LINKS} links to folders`);
      if (next.within.includes(found)) throw new CopilotError("USER", `${join(folder, name)} is a link to ${found}, which contains it`);
      open.push({ name, path: found, within: [...next.within, found] });
    }
  }
  return files;
}
