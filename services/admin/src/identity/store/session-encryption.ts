import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Generates a session id, which is stored only in the browser's cookie. */
export function newSessionId(): string {
  return randomBytes(32).toString("base64url");
}

export function hashOfId(id: string): string {
  return createHash("sha256").update(id).digest("base64url");
}

function keyOf(id: string): Buffer {
  return Buffer.from(hkdfSync("sha256", id, "", "flyte browser session", 32));
}

/** Encrypts a value with a key derived from the id, so that the database alone reveals nothing. */
export function encryptSession(id: string, value: unknown): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOf(id), iv);
  const body = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

/** Decrypts a value. @throws Error when it was modified or encrypted with another id. */
export function decryptSession(id: string, sealed: Uint8Array): unknown {
  const decipher = createDecipheriv("aes-256-gcm", keyOf(id), sealed.subarray(0, IV_BYTES));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return JSON.parse(Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8"));
}
