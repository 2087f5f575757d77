import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CopilotError } from "../copilot-error.js";
import { linkTarget } from "./link-target.js";

export interface OutputFile {
  readonly path: string;
  /** Real path of the folder in which the task writes; links lead nowhere else. */
  readonly root: string;
  readonly isFolder: boolean;
  /** Size of a file, bytes. */
  readonly size: number;
}

/**
 * Finds the output of a task: the file or folder of that name, or else the only one of that name
 * with an extension.
 * @throws CopilotError when there is none, or more than one.
 */
export async function findOutputFile(path: string): Promise<OutputFile> {
  const found = await statOutput(path);
  if (found !== undefined) return found;
  const name = basename(path);
  const matches = (await readdir(dirname(path))).filter((candidate) => candidate.startsWith(`${name}.`)).toSorted();
  const [only] = matches;
  if (only === undefined) throw new CopilotError("USER", `the task wrote no file ${path}`);
  if (matches.length > 1) throw new CopilotError("USER", `there are several files for ${path}: ${matches.join(", ")}`);
  const match = await statOutput(join(dirname(path), only));
  if (match === undefined) throw new CopilotError("USER", `the task wrote no file ${path}`);
  return match;
}

async function statOutput(path: string): Promise<OutputFile | undefined> {
  try {
    const entry = await lstat(path);
    const root = await realpath(dirname(path));
    const found = entry.isSymbolicLink() ? await stat(await linkTarget(path, root)) : entry;
    return { path, root, isFolder: found.isDirectory(), size: found.size };
  } catch (error) {
    if (error instanceof CopilotError) throw error;
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new CopilotError("USER", `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
