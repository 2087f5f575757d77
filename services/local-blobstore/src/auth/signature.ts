import { createHash, createHmac } from "node:crypto";
import { BoundedMap } from "@flyte-ts/async";

/** Scope of a signing key: one day, region and service. */
export interface Scope {
  /** `YYYYMMDD`. */
  readonly day: string;
  readonly region: string;
  readonly service: string;
}

export function scopeText({ day, region, service }: Scope): string {
  return `${day}/${region}/${service}/aws4_request`;
}

/** Keys of the last scopes: clients use one for a day, and its derivation takes four hashes. */
const recentKeys = new BoundedMap<string, Buffer>(16);

/** Derives the key for signatures within a scope (AWS Signature Version 4). */
export function signingKey(secret: string, scope: Scope): Buffer {
  const id = `${scopeText(scope)} ${secret}`;
  const known = recentKeys.get(id);
  if (known !== undefined) return known;
  const { day, region, service } = scope;
  const step = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const key = step(step(step(step(`AWS4${secret}`, day), region), service), "aws4_request");
  recentKeys.set(id, key);
  return key;
}

export function hmacHex(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Parts of a request that its signature covers. */
export interface CanonicalInput {
  readonly method: string;
  /** Decoded. */
  readonly path: string;
  /** Decoded, without the signature. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: ReadonlyMap<string, string>;
  /** Lower-case names, sorted. */
  readonly signedHeaders: readonly string[];
  readonly payloadHash: string;
}

/** Builds the canonical form of a request; its hash is signed. */
export function canonicalRequest(input: CanonicalInput): string {
  const query = input.query
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const headers = input.signedHeaders.map((name) => `${name}:${(input.headers.get(name) ?? "").trim().replace(/\s+/g, " ")}\n`).join("");
  const path = input.path.split("/").map(encode).join("/");
  return [input.method, path, query, headers, input.signedHeaders.join(";"), input.payloadHash].join("\n");
}

/** Builds the text to be signed. */
export function stringToSign(time: string, scope: Scope, canonical: string): string {
  return ["AWS4-HMAC-SHA256", time, scopeText(scope), sha256Hex(canonical)].join("\n");
}

/** Percent-encodes all UTF-8 bytes except letters, digits and `-._~`. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
