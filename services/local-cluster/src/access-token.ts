import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Form of a token, as the configuration has it. */
const TOKEN_PATTERN = /^[\w-]{16,256}$/;

/**
 * The secret that callers of the API have to know, which a file keeps over restarts. A file that a power cut or a full disk has left without its content
 * gets a new one: an empty secret would let everybody in.
 */
export function readOrCreateToken(file: string): string {
  const kept = read(file);
  if (TOKEN_PATTERN.test(kept)) return kept;
  const token = randomBytes(24).toString("hex");
  const staged = `${file}.new`;
  rmSync(staged, { force: true });
  const fd = openSync(staged, "wx", 0o600);
  try {
    writeFileSync(fd, token);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(staged, file);
  return token;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
