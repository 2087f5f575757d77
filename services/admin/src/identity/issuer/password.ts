import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from "node:crypto";

/**
 * About 50 ms and 32 MiB per hash (OWASP's advice for scrypt: N = 2^15, r = 8, p = 3 and stronger).
 */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const KEY_BYTES = 32;
const MAX_PASSWORD_BYTES = 1_024;

/** Returns `scrypt:N:r:p:salt:key`, the last two in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, COST);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), key.toString("base64url")].join(":");
}

/**
 * Verifies a password. Takes as long for an empty or invalid hash as for a valid one, to hide which
 * users exist.
 */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [name, N, r, p, salt, key] = hash.split(":");
  const known = name === "scrypt" && key !== undefined && Buffer.byteLength(password) <= MAX_PASSWORD_BYTES;
  const cost = known ? { N: Number(N), r: Number(r), p: Number(p) } : COST;
  const derived = await derive(known ? password : "", Buffer.from(salt ?? "", "base64url"), cost);
  const expected = Buffer.from(key ?? "", "base64url");
  return known && expected.length === derived.length && timingSafeEqual(expected, derived);
}

function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, { ...cost, maxmem: 256 * 1024 * 1024 }, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}
