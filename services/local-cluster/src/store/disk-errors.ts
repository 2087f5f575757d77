/** Errors of a disk, or a quota on it, that has no room now and may have some later. */
const DISK_FULL_CODES: readonly (string | undefined)[] = ["ENOSPC", "EDQUOT"];

export function isDiskFull(error: unknown): boolean {
  return DISK_FULL_CODES.includes((error as NodeJS.ErrnoException | null)?.code);
}

/** Formats a failed write for the operator: the directory and the remedy. */
export function describeDiskError(error: unknown, folder: string): string {
  const text = error instanceof Error ? error.message : String(error);
  if (isDiskFull(error)) return `the disk that holds ${folder} is full (${text}): free some space; writes then resume`;
  return `${folder} cannot be written: ${text}`;
}
