import { createHmac, timingSafeEqual } from "node:crypto";

// Standard Webhooks (https://www.standardwebhooks.com): signs `id.timestamp.body` with HMAC-SHA256.

export const WEBHOOK_HEADERS = { id: "webhook-id", timestamp: "webhook-timestamp", signature: "webhook-signature" } as const;
const PREFIX = "whsec_";
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Formats a webhook's secret: `whsec_` and its bytes in base64. */
export function secretText(bytes: Uint8Array): string {
  return PREFIX + Buffer.from(bytes).toString("base64");
}

/** Decodes a secret; one without the prefix is used as text. */
export function secretBytes(secret: string): Uint8Array {
  if (!secret.startsWith(PREFIX)) return Buffer.from(secret);
  const encoded = secret.slice(PREFIX.length);
  if (!BASE64.test(encoded)) throw new Error(`a secret that begins with ${PREFIX} must continue in base64`);
  return Buffer.from(encoded, "base64");
}

export interface SignedMessage {
  /**
   * Without a dot: dots separate the signed fields, and a dot in the id would make the split
   * ambiguous.
   */
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string | Uint8Array;
}

function signatureOf({ id, timestamp, body }: SignedMessage, secret: Uint8Array): Buffer {
  return createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest();
}

/**
 * Headers that sign a message with each of the secrets: during a rotation two are in use.
 *
 * @throws Error when the id holds a dot.
 */
export function signatureHeaders(message: SignedMessage, secrets: readonly Uint8Array[]): Record<string, string> {
  if (message.id.includes(".")) throw new Error("the id of a signed webhook must not contain a dot");
  return {
    [WEBHOOK_HEADERS.id]: message.id,
    [WEBHOOK_HEADERS.timestamp]: String(message.timestamp),
    [WEBHOOK_HEADERS.signature]: secrets.map((secret) => `v1,${signatureOf(message, secret).toString("base64")}`).join(" "),
  };
}

/**
 * True when one of the signatures in the header is by one of the secrets. A message whose id holds
 * a dot has no valid signature.
 */
export function isSignedBy(message: SignedMessage, header: string, secrets: readonly Uint8Array[]): boolean {
  if (message.id.includes(".")) return false;
  const given = header
    .split(" ")
    .filter((each) => each.startsWith("v1,"))
    .map((each) => Buffer.from(each.slice(3), "base64"));
  return secrets.some((secret) => {
    const right = signatureOf(message, secret);
    return given.some((each) => each.length === right.length && timingSafeEqual(each, right));
  });
}
