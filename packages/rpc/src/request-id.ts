import { randomInt } from "node:crypto";

const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/**
 * Returns the caller's request id if it is printable and not too long, else a new one: `a-` and 20
 * characters.
 */
export function requestIdOf(given: string | undefined): string {
  if (given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given)) return given;
  let id = "a-";
  for (let i = 0; i < 20; i++) id += alphabet[randomInt(alphabet.length)];
  return id;
}
