import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { StackError } from "../stack-error.js";

/** Mode bits that grant access to the group or other users. */
const GROUP_AND_OTHERS = 0o077;

/** Restricts new files and folders of this process and its children to their user. */
export function restrictNewFiles(): void {
  process.umask(GROUP_AND_OTHERS);
}

/**
 * Creates a folder that only its owner may enter, or restricts an existing one.
 *
 * @throws StackError when the path is no folder or belongs to another user
 */
export function ensurePrivateDir(path: string): void {
  createDirs(resolve(path));
  const { uid, mode } = statSync(path);
  if (process.geteuid !== undefined && uid !== process.geteuid())
    throw new StackError(`${path} belongs to another user (uid ${uid}): choose another folder with --data`);
  if ((mode & GROUP_AND_OTHERS) !== 0) chmodSync(path, mode & 0o700);
}

/**
 * Creates a folder and its parents. Node's own recursive form loops forever where a file system,
 * such as /proc, creates no folders.
 */
function createDirs(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  createDirs(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * Creates the data folder of a stack, or closes an existing one to other users. A folder with files
 * of other programs keeps its mode: its parts are closed one by one.
 *
 * @param mark file or folder that every data folder of a stack contains
 * @throws StackError when the path is no folder or belongs to another user
 */
export function ensurePrivateDataDir(path: string, mark: string): void {
  const shared = existsSync(path) && statSync(path).isDirectory() && readdirSync(path).length > 0 && !existsSync(mark);
  if (!shared) ensurePrivateDir(path);
}
