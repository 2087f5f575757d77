import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { isSignedBy, secretBytes, WEBHOOK_HEADERS } from "@flyte-ts/outbound";
import { WebhookScheme } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";

/** Returns a header of a request; names in lower case. */
export type HeaderOf = (name: string) => string | undefined;

export interface Delivery {
  readonly id: string;
  readonly signature: string;
  /** Seconds since the epoch; undefined where the scheme has none. */
  readonly timestamp: number | undefined;
}

const GITHUB_ID = /^[\x21-\x7e]{1,200}$/;
/**
 * Standard Webhooks sign `id.timestamp.body`: with a dot in the id, the same signature would match
 * another time and body.
 */
const STANDARD_ID = /^[\x21-\x2d\x2f-\x7e]{1,200}$/;
const SHA256 = /^sha256=([0-9a-f]{64})$/;

/** Reads a delivery from the headers of its scheme; undefined when one is missing or malformed. */
export function deliveryOf(scheme: WebhookScheme, header: HeaderOf): Delivery | undefined {
  const github = scheme === WebhookScheme.GITHUB;
  const id = header(github ? "x-github-delivery" : WEBHOOK_HEADERS.id) ?? "";
  const signature = header(github ? "x-hub-signature-256" : WEBHOOK_HEADERS.signature) ?? "";
  if (!(github ? GITHUB_ID : STANDARD_ID).test(id) || signature === "") return undefined;
  if (github) return SHA256.test(signature) ? { id, signature, timestamp: undefined } : undefined;
  const time = header(WEBHOOK_HEADERS.timestamp) ?? "";
  return /^[0-9]{1,12}$/.test(time) ? { id, signature, timestamp: Number(time) } : undefined;
}

/** True when a delivery was signed with one of the secrets. */
export function isSigned({ id, signature, timestamp }: Delivery, body: Uint8Array, secrets: readonly string[]): boolean {
  if (timestamp !== undefined) return isSignedBy({ id, timestamp, body }, signature, secrets.map(secretBytes));
  const given = Buffer.from(SHA256.exec(signature)?.[1] ?? "", "hex");
  return secrets.some((secret) => {
    const right = createHmac("sha256", secret).update(body).digest();
    return given.length === right.length && timingSafeEqual(given, right);
  });
}

/**
 * Idempotency key of a delivery, from signed data only. GitHub signs only the body, neither id nor
 * time, so there it is derived from the body.
 */
export function idempotencyKeyOf({ id, timestamp }: Delivery, body: Uint8Array): string {
  return timestamp === undefined ? `webhook sha256:${createHash("sha256").update(body).digest("hex")}` : `webhook ${id}`;
}

/** True for GitHub's `ping`, which it sends when a webhook is created. */
export function isPing(scheme: WebhookScheme, header: HeaderOf): boolean {
  return scheme === WebhookScheme.GITHUB && header("x-github-event") === "ping";
}
