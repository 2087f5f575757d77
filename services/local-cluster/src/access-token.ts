import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { replaceFile } from "@flyte-ts/host";

/** Format of a token, as in the configuration. */
const TOKEN_PATTERN = /^[\w-]{16,256}$/;

/**
 * Reads the API token from a file, or creates one. Replaces an incomplete token, as a power failure
 * or a full disk leaves it: an empty secret would admit every caller.
 */
export function readOrCreateToken(file: string): string {
  const kept = read(file);
  if (TOKEN_PATTERN.test(kept)) return kept;
  const token = randomBytes(24).toString("hex");
  replaceFile(file, token);
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
