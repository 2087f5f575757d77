import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { processIdentity } from "./process-identity.js";

/** The process that holds a lock, or is assumed to. */
export interface LockHolder {
  /** Undefined: the file has just been created and is still empty. */
  readonly pid: number | undefined;
}

/**
 * Time for which an empty lock file may be one being written, ms; a power failure leaves such files
 * too.
 */
const EMPTY_LOCK_GRACE_MS = 5_000;

/**
 * Acquires a lock file for this process: it holds the process id and identity, and appears complete
 * or not at all. A lock whose process has ended, or whose process id has been reused, is taken
 * over.
 *
 * @returns undefined when the lock is acquired, else its holder
 */
export function acquireLock(lock: string): LockHolder | undefined {
  const ownFile = `${lock}.${process.pid}.${randomUUID()}`;
  try {
    const content = `${process.pid}\n${processIdentity(process.pid) ?? ""}\n`;
    writeFileSync(ownFile, content, { mode: 0o600, flush: true });
    for (;;) {
      if (linkLock(lock, { ownFile, content })) return undefined;
      const current = readLock(lock);
      if (current.holder !== undefined) return current.holder;
      removeStale(lock, current.content);
    }
  } finally {
    rmSync(ownFile, { force: true });
  }
}

/** Errors of file systems without hard links. */
const NO_HARD_LINK_CODES: readonly (string | undefined)[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** Creates the lock unless it exists. */
function linkLock(lock: string, { ownFile, content }: { ownFile: string; content: string }): boolean {
  try {
    linkSync(ownFile, lock);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!NO_HARD_LINK_CODES.includes(code)) throw error;
  }
  try {
    writeFileSync(lock, content, { mode: 0o600, flag: "wx", flush: true });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Releases this process's lock, never another's. */
export function releaseLock(lock: string): void {
  const [pid] = splitLines(readIfPresent(lock));
  if (Number(pid) === process.pid) rmSync(lock, { force: true });
}

interface LockState {
  readonly holder: LockHolder | undefined;
  /** Undefined: the lock no longer exists. */
  readonly content: string | undefined;
}

function readLock(lock: string): LockState {
  const content = readIfPresent(lock);
  if (content === undefined) return { holder: undefined, content };
  const [pid = 0, identity = ""] = splitLines(content);
  if (!(Number(pid) > 0)) return { holder: fileAgeMs(lock) < EMPTY_LOCK_GRACE_MS ? { pid: undefined } : undefined, content };
  const liveIdentity = processIdentity(Number(pid));
  return { holder: liveIdentity !== undefined && liveIdentity === identity ? { pid: Number(pid) } : undefined, content };
}

/**
 * Removes the lock if it still has that content. If another process has taken the lock over
 * meanwhile, restores the lock of that process.
 */
function removeStale(lock: string, content: string | undefined): void {
  if (content === undefined) return;
  const aside = `${lock}.${process.pid}.${randomUUID()}.stale`;
  try {
    renameSync(lock, aside);
    if (readIfPresent(aside) !== content) linkSync(aside, lock);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

const splitLines = (content: string | undefined): string[] => (content ?? "").split("\n");

/**
 * Milliseconds since the file was written. A time in the future, from a clock that was set back,
 * counts as long ago.
 */
function fileAgeMs(path: string): number {
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return age < -EMPTY_LOCK_GRACE_MS ? Number.POSITIVE_INFINITY : age;
}
