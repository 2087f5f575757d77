import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { giveAway } from "./give-away.js";

/** Characters of a password that needs no quotes in SQL, in a URL and in a shell. */
const WHOLE = /^[\w-]{16,}$/;

/** Password of the database's user. */
export interface Password {
  readonly text: string;
  /** False until the database has the password; then call `confirmPassword`. */
  readonly known: boolean;
}

const fileOf = (folder: string) => join(folder, "password");
const proposedFileOf = (folder: string) => join(folder, "password.new");

/** Generates a password of letters, digits, `-` and `_`. */
export function randomPassword(): string {
  return randomBytes(24).toString("base64url");
}

/**
 * Reads the folder's password from a file that the server's user can read. A power failure may empty or remove that
 * file: then a new password is proposed, durably, and stays the same until the database has it.
 */
export function passwordOf(folder: string): Password {
  const known = read(fileOf(folder));
  if (known !== undefined) return { text: known, known: true };
  const file = proposedFileOf(folder);
  const proposed = read(file) ?? randomPassword();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  giveAway(folder);
  rmSync(file, { force: true });
  const fd = openSync(file, "wx", 0o600);
  try {
    writeFileSync(fd, `${proposed}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  giveAway(file);
  return { text: proposed, known: false };
}

/** Records that the database has the proposed password. */
export function confirmPassword(folder: string): void {
  renameSync(proposedFileOf(folder), fileOf(folder));
}

/** Undefined when the file is missing or incomplete. */
function read(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8").trim();
    return WHOLE.test(text) ? text : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
