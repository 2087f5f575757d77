import { statfsSync } from "node:fs";

/** Minimum of free space for PostgreSQL to start after a crash, bytes: two segments of its log. */
const MIN_FREE_BYTES = 32 * 1024 * 1024;

/**
 * Describes a disk with too little space for a server to start; undefined when there is enough, or
 * it is unknown.
 */
export function describeLowDiskSpace(folder: string): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    if (free >= MIN_FREE_BYTES) return undefined;
    return `the disk that holds ${folder} has ${Math.floor(free / 1024)} KiB left: free some space`;
  } catch {
    return undefined;
  }
}

/** True when an error says that a disk, or a quota on it, is full. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT";
}
