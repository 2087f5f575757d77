import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { StackError } from "./stack-error.js";

/** Bits of a mode that let the group or other users in. */
const OTHERS = 0o077;

/** Files and folders that this process and its children make belong to their user alone. */
export function keepFilesPrivate(): void {
  process.umask(OTHERS);
}

/**
 * Makes a folder that its owner alone may enter, or closes one that is there.
 *
 * @throws StackError when the path is no folder or belongs to another user
 */
export function privateFolder(path: string): void {
  makePath(resolve(path));
  const { uid, mode } = statSync(path);
  if (process.geteuid !== undefined && uid !== process.geteuid())
    throw new StackError(`${path} belongs to another user (uid ${uid}): choose another folder with --data`);
  if ((mode & OTHERS) !== 0) chmodSync(path, mode & 0o700);
}

/** Makes a folder and those above it. Node's own recursive form tries for ever where a file system, such as /proc, makes no folders. */
function makePath(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  makePath(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * Makes the data folder of a stack, or closes one that is there to other users. A folder that holds files of other programs keeps its
 * mode: its parts are closed one by one.
 *
 * @param mark file or folder that every data folder of a stack holds
 * @throws StackError when the path is no folder or belongs to another user
 */
export function privateDataFolder(path: string, mark: string): void {
  const shared = existsSync(path) && statSync(path).isDirectory() && readdirSync(path).length > 0 && !existsSync(mark);
  if (!shared) privateFolder(path);
}
