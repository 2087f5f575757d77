import { createHash, createHmac } from "node:crypto";

/** Credentials of AWS. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Present for temporary credentials. */
  readonly sessionToken?: string | undefined;
}

export interface RequestToSign {
  readonly method: string;
  readonly url: URL;
  /** Lower-case names; every header is signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body in hex. */
  readonly payloadHash: string;
  readonly region: string;
  readonly at: Date;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/**
 * Returns the headers of a request to S3 with a signature of AWS Signature Version 4. The host is
 * signed and not returned: HTTP clients derive it from the URL.
 */
export function signRequest(request: RequestToSign, keys: AwsKeys): Record<string, string> {
  const time = `${request.at.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  const headers: Record<string, string> = {
    ...request.headers,
    "x-amz-content-sha256": request.payloadHash,
    "x-amz-date": time,
    ...(keys.sessionToken !== undefined && { "x-amz-security-token": keys.sessionToken }),
  };
  const signed = { ...headers, host: request.url.host };
  const names = Object.keys(signed).toSorted();
  const scope = `${time.slice(0, 8)}/${request.region}/s3/aws4_request`;
  const toSign = [ALGORITHM, time, scope, sha256Hex(canonicalRequest(request, signed, names))].join("\n");
  const signature = hmac(signingKey(keys.secretAccessKey, scope), toSign).toString("hex");
  headers["authorization"] =
    `${ALGORITHM} Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return headers;
}

function canonicalRequest(
  { method, url, payloadHash }: RequestToSign,
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
): string {
  const query = url.search
    .slice(1)
    .split("&")
    .filter((parameter) => parameter !== "")
    .map((parameter): [string, string] => [parameter.split("=", 1)[0] ?? "", parameter.split("=").slice(1).join("=")])
    .toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const lines = names.map((name) => `${name}:${(headers[name] ?? "").trim().replaceAll(/\s+/g, " ")}\n`).join("");
  return [method, url.pathname, query, lines, names.join(";"), payloadHash].join("\n");
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function signingKey(secret: string, scope: string): Buffer {
  return scope.split("/").reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secret}`));
}

export const sha256Hex = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

const hmac = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/**
 * Percent-encodes all UTF-8 bytes but letters, digits and `-._~`, as the canonical form of a
 * request has them.
 */
export const encodeStrictly = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
