import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { identityOf } from "./process-identity.js";

/** The process that holds a lock, or is assumed to. */
export interface LockHolder {
  /** Undefined: the file has just been created and is still empty. */
  readonly pid: number | undefined;
}

/** Time for which an empty lock file may be one being written, ms; a power failure leaves such files too. */
const UNWRITTEN_MS = 5_000;

/**
 * Acquires a lock file for this process: it holds the process id and identity, and appears complete or not at all. A
 * lock whose process has ended, or whose process id has been reused, is taken over.
 *
 * @returns undefined when the lock is acquired, else its holder
 */
export function takeLock(lock: string): LockHolder | undefined {
  const mine = `${lock}.${process.pid}.${randomUUID()}`;
  try {
    const content = `${process.pid}\n${identityOf(process.pid) ?? ""}\n`;
    writeFileSync(mine, content, { mode: 0o600, flush: true });
    for (;;) {
      if (appears(lock, { mine, content })) return undefined;
      const found = holderOf(lock);
      if (found.holder !== undefined) return found.holder;
      removeStale(lock, found.content);
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Errors of file systems without hard links. */
const NO_LINKS: readonly (string | undefined)[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** Creates the lock unless it exists. */
function appears(lock: string, { mine, content }: { mine: string; content: string }): boolean {
  try {
    linkSync(mine, lock);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!NO_LINKS.includes(code)) throw error;
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
  const [pid] = linesOf(contentOf(lock));
  if (Number(pid) === process.pid) rmSync(lock, { force: true });
}

interface Found {
  readonly holder: LockHolder | undefined;
  /** Undefined: the lock no longer exists. */
  readonly content: string | undefined;
}

function holderOf(lock: string): Found {
  const content = contentOf(lock);
  if (content === undefined) return { holder: undefined, content };
  const [pid = 0, identity = ""] = linesOf(content);
  if (!(Number(pid) > 0)) return { holder: ageOf(lock) < UNWRITTEN_MS ? { pid: undefined } : undefined, content };
  const now = identityOf(Number(pid));
  return { holder: now !== undefined && now === identity ? { pid: Number(pid) } : undefined, content };
}

/** Removes the lock if it still has that content: another process may have taken it over meanwhile, and gets it back. */
function removeStale(lock: string, content: string | undefined): void {
  if (content === undefined) return;
  const aside = `${lock}.${process.pid}.${randomUUID()}.stale`;
  try {
    renameSync(lock, aside);
    if (contentOf(aside) !== content) linkSync(aside, lock);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

const linesOf = (content: string | undefined): string[] => (content ?? "").split("\n");

/** Milliseconds since the file was written. A time in the future, from a clock that was set back, counts as long ago. */
function ageOf(path: string): number {
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return age < -UNWRITTEN_MS ? Number.POSITIVE_INFINITY : age;
}
