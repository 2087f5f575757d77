import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";

/**
 * Replaces a file atomically: after a crash, a power failure or on a full disk it holds the old or
 * the new content, in full.
 *
 * @param mode permissions of the file
 */
export function replaceFile(file: string, content: string, mode = 0o600): void {
  const staged = `${file}.new`;
  try {
    rmSync(staged, { force: true });
    const fd = openSync(staged, "wx", mode);
    try {
      writeFileSync(fd, content);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(staged, file);
  } catch (error) {
    rmSync(staged, { force: true });
    throw error;
  }
}
