import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { giveAway } from "./give-away.js";

/** Letters of a password, which needs no quotes in SQL, in a URL and in a shell. */
const WHOLE = /^[\w-]{16,}$/;

/** Password of the database's user. */
export interface Password {
  readonly text: string;
  /** False: the database does not know it yet; `confirm` is called when it does. */
  readonly known: boolean;
}

const fileOf = (folder: string) => join(folder, "password");
const proposedFileOf = (folder: string) => join(folder, "password.new");

/** A password of letters, digits, `-` and `_`. */
export function randomPassword(): string {
  return randomBytes(24).toString("base64url");
}

/**
 * The folder's password, in a file that the server's user can read. A power cut may leave that file without its content, or take it away:
 * then a new one is proposed, durably, and stays the same until the database knows it.
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

/** The database knows the proposed password. */
export function confirmPassword(folder: string): void {
  renameSync(proposedFileOf(folder), fileOf(folder));
}

/** Undefined: there is none, or it is not whole. */
function read(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8").trim();
    return WHOLE.test(text) ? text : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
