import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CopilotFailure } from "../failure.js";

export interface OutputFile {
  readonly path: string;
  readonly isFolder: boolean;
  /** Size of a file, bytes. */
  readonly size: number;
}

/**
 * Finds the output of a task: the file or folder of that name, or else the only one of that name with an extension.
 * @throws CopilotFailure when there is none, or more than one.
 */
export async function outputFile(path: string): Promise<OutputFile> {
  const found = await known(path);
  if (found !== undefined) return found;
  const name = basename(path);
  const matches = (await readdir(dirname(path))).filter((candidate) => candidate.startsWith(`${name}.`)).toSorted();
  const [only] = matches;
  if (only === undefined) throw new CopilotFailure("USER", `the task wrote no file ${path}`);
  if (matches.length > 1) throw new CopilotFailure("USER", `there are several files for ${path}: ${matches.join(", ")}`);
  const match = await known(join(dirname(path), only));
  if (match === undefined) throw new CopilotFailure("USER", `the task wrote no file ${path}`);
  return match;
}

async function known(path: string): Promise<OutputFile | undefined> {
  try {
    const found = await stat(path);
    return { path, isFolder: found.isDirectory(), size: found.size };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new CopilotFailure("USER", `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
