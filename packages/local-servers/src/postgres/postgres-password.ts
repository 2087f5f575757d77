import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chownToNobody } from "./change-owner.js";

/** Characters of a password that needs no quotes in SQL, in a URL and in a shell. */
const PASSWORD_PATTERN = /^[\w-]{16,}$/;

/** Password of the database's user. */
export interface Password {
  readonly text: string;
  /** False until the database has the password; then call `confirmPassword`. */
  readonly confirmed: boolean;
}

const fileOf = (folder: string) => join(folder, "password");
const proposedFileOf = (folder: string) => join(folder, "password.new");

/** Generates a password of letters, digits, `-` and `_`. */
export function randomPassword(): string {
  return randomBytes(24).toString("base64url");
}

/**
 * Reads the folder's password from a file that the server's user can read. A power failure may
 * empty or remove that file: then a new password is proposed, durably, and stays the same until the
 * database has it.
 */
export function readOrProposePassword(folder: string): Password {
  const confirmed = read(fileOf(folder));
  if (confirmed !== undefined) return { text: confirmed, confirmed: true };
  const file = proposedFileOf(folder);
  const proposed = read(file) ?? randomPassword();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chownToNobody(folder);
  rmSync(file, { force: true });
  const fd = openSync(file, "wx", 0o600);
  try {
    writeFileSync(fd, `${proposed}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  chownToNobody(file);
  return { text: proposed, confirmed: false };
}

/** Records that the database has the proposed password. */
export function confirmPassword(folder: string): void {
  renameSync(proposedFileOf(folder), fileOf(folder));
}

/** Undefined when the file is missing or incomplete. */
function read(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8").trim();
    return PASSWORD_PATTERN.test(text) ? text : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
