/** Errors of a disk, or a quota on it, that has no room now and may have some later. */
const FULL: readonly (string | undefined)[] = ["ENOSPC", "EDQUOT"];

export function isFull(error: unknown): boolean {
  return FULL.includes((error as NodeJS.ErrnoException | null)?.code);
}

/** Tells a person of a write that failed: which folder, and what to do. */
export function describeDiskError(error: unknown, folder: string): string {
  const text = error instanceof Error ? error.message : String(error);
  if (isFull(error)) return `the disk that holds ${folder} is full (${text}): free some space, and writing goes on by itself`;
  return `${folder} cannot be written: ${text}`;
}
