import { accessSync, constants, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { ensurePrivateDataDir, ensurePrivateDir } from "./private-dir.js";
import { StackError } from "../stack-error.js";
import type { StackPaths } from "./paths.js";

/**
 * Maximum length of the path of a Unix domain socket, bytes: 108 on Linux (unix(7)), 104 on macOS
 * (unix(4)), each with a NUL at the end.
 */
const SOCKET_PATH_BYTES = process.platform === "darwin" ? 103 : 107;
/**
 * Folder for temporary files of a pod, below the data folder; the 16 characters stand for the pod's
 * id.
 */
const POD_TEMP_DIR = join("cluster", "pods", "0123456789abcdef", "tmp");
/** Sockets of Python's multiprocessing below a temporary folder. */
const MULTIPROCESSING_SOCKET = join("pymp-01234567", "listener-01234567");

/**
 * Creates the folders of a stack.
 *
 * @returns a warning for the user, if there is one
 * @throws StackError that names the folder and the remedy, when the stack cannot keep its state
 *   there
 */
export function createStackDirs(folders: StackPaths): string | undefined {
  const { root } = folders;
  const remainingBytes = SOCKET_PATH_BYTES - Buffer.byteLength(join(root, POD_TEMP_DIR, "s"));
  if (remainingBytes < 0) throw unusableDir(root, `its path is ${-remainingBytes} characters too long for the sockets of tasks`);
  try {
    requireDirectory(root, root);
    ensurePrivateDataDir(root, join(folders.config, "ports.json"));
    for (const folder of [folders.config, folders.logs, folders.blobs, folders.cluster, folders.bundles, folders.nats]) {
      requireDirectory(folder, root);
      ensurePrivateDir(folder);
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    }
  } catch (error) {
    if (error instanceof StackError) throw error;
    throw unusableDir(root, errorReason(error as NodeJS.ErrnoException), error);
  }
  if (Buffer.byteLength(join(root, POD_TEMP_DIR, MULTIPROCESSING_SOCKET)) <= SOCKET_PATH_BYTES) return undefined;
  return `the path of ${root} is long: tasks that use Python's multiprocessing managers need a shorter one (--data DIR)`;
}

function requireDirectory(folder: string, root: string): void {
  const before = statIfPresent(folder);
  if (before !== undefined && !before.isDirectory()) throw unusableDir(root, `${folder === root ? "it" : folder} is a file, not a folder`);
}

function statIfPresent(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function errorReason({ code, message, path }: NodeJS.ErrnoException): string {
  switch (code) {
    case "EACCES":
    case "EPERM":
      return `this user may not write to ${path ?? "it"}`;
    case "ENOENT":
      return "no folder can be created there";
    case "EROFS":
      return "it is on a read-only file system";
    case "ENOTDIR":
    case "EEXIST":
      return "a part of its path is a file, not a folder";
    case "ENOSPC":
    case "EDQUOT":
      return "its disk is full";
    default:
      return message;
  }
}

function unusableDir(root: string, why: string, cause?: unknown): StackError {
  return new StackError(`the data folder ${root} cannot be used: ${why}. Choose another with --data DIR`, { cause });
}
