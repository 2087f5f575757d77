import { timingSafeEqual } from "node:crypto";
import { parameter, type S3Request } from "../http/request.js";
import { S3Error } from "../http/s3-error.js";
import { canonicalRequest, hmacHex, type Scope, signingKey, stringToSign } from "./signature.js";

const ALGORITHM = "AWS4-HMAC-SHA256";
const UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";
/** Maximum clock skew between client and server, ms. */
const MAX_CLOCK_SKEW_MS = 15 * 60_000;
const MAX_EXPIRY_SECONDS = 7 * 24 * 3600;
/**
 * Headers that may be unsigned: clients and proxies add them after signing, and they do not change
 * the request.
 */
const UNSIGNED_HEADERS_ALLOWED = ["x-amz-user-agent", "x-amz-content-sha256", "x-amzn-trace-id"];

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Result of the authentication: the data with which the signatures of chunks are verified. */
export interface Authenticated {
  /** Value of `x-amz-content-sha256`: a hash, UNSIGNED-PAYLOAD or the name of a streaming form. */
  readonly payloadHash: string;
  readonly key: Buffer;
  readonly scope: Scope;
  /** `YYYYMMDDTHHMMSSZ`. */
  readonly time: string;
  readonly signature: string;
}

/**
 * Verifies a request's signature: AWS Signature Version 4 in the Authorization header or in the
 * query.
 *
 * @throws S3Error when it is missing, malformed, expired or wrong.
 */
export function authenticate(request: S3Request, credentials: Credentials, now: Date): Authenticated {
  const claim = parameter(request, "X-Amz-Algorithm") === undefined ? claimFromHeader(request, now) : claimFromQuery(request, now);
  if (claim.accessKeyId !== credentials.accessKeyId) throw new S3Error("InvalidAccessKeyId");
  if (claim.scope.service !== "s3" || claim.scope.day !== claim.time.slice(0, 8))
    throw new S3Error("AuthorizationHeaderMalformed", "the credential's scope is wrong");
  checkSignedHeaders(request, claim.signedHeaders);
  const canonical = canonicalRequest({
    method: request.method,
    path: request.path,
    query: request.query.filter(([name]) => name !== "X-Amz-Signature"),
    headers: request.headers,
    signedHeaders: claim.signedHeaders,
    payloadHash: claim.payloadHash,
  });
  const key = signingKey(credentials.secretAccessKey, claim.scope);
  if (!equalsInConstantTime(hmacHex(key, stringToSign(claim.time, claim.scope, canonical)), claim.signature))
    throw new S3Error("SignatureDoesNotMatch");
  return { payloadHash: claim.payloadHash, key, scope: claim.scope, time: claim.time, signature: claim.signature };
}

interface SignatureClaim {
  readonly accessKeyId: string;
  readonly scope: Scope;
  readonly time: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly payloadHash: string;
}

const AUTHORIZATION_PATTERN = /^AWS4-HMAC-SHA256\s+Credential=([^,\s]+)\s*,\s*SignedHeaders=([^,\s]+)\s*,\s*Signature=([0-9a-f]{64})\s*$/;

function claimFromHeader({ headers, query }: S3Request, now: Date): SignatureClaim {
  const authorization = headers.get("authorization");
  if (authorization === undefined) {
    const version2 = query.some(([name]) => name === "AWSAccessKeyId");
    if (version2) throw new S3Error("InvalidRequest", `AWS Signature Version 2 is not supported, use version 4 (${ALGORITHM})`);
    throw new S3Error("AccessDenied", "the request is not signed");
  }
  if (!authorization.startsWith(ALGORITHM)) throw new S3Error("InvalidRequest", `only ${ALGORITHM} signatures are supported`);
  const [, credential, signedHeaders = "", signature = ""] = AUTHORIZATION_PATTERN.exec(authorization) ?? [];
  if (credential === undefined) throw new S3Error("AuthorizationHeaderMalformed");
  const time = headers.get("x-amz-date") ?? compactTime(headers.get("date") ?? "");
  const at = parseTime(time);
  if (at === undefined) throw new S3Error("AccessDenied", "x-amz-date or date is required");
  if (Math.abs(at - now.getTime()) > MAX_CLOCK_SKEW_MS) throw new S3Error("RequestTimeTooSkewed");
  const payloadHash = headers.get("x-amz-content-sha256");
  if (payloadHash === undefined) throw new S3Error("InvalidRequest", "x-amz-content-sha256 is required");
  return {
    ...parseCredential(credential, "AuthorizationHeaderMalformed"),
    time,
    signedHeaders: sortedNames(signedHeaders),
    signature,
    payloadHash,
  };
}

function claimFromQuery(request: S3Request, now: Date): SignatureClaim {
  const required = (name: string): string => {
    const value = parameter(request, name);
    if (value === undefined || value === "") throw new S3Error("AuthorizationQueryParametersError", `${name} is required`);
    return value;
  };
  if (required("X-Amz-Algorithm") !== ALGORITHM)
    throw new S3Error("AuthorizationQueryParametersError", `X-Amz-Algorithm must be ${ALGORITHM}`);
  const time = required("X-Amz-Date");
  const at = parseTime(time);
  const expires = Number(required("X-Amz-Expires"));
  if (at === undefined) throw new S3Error("AuthorizationQueryParametersError", "X-Amz-Date must be YYYYMMDDTHHMMSSZ");
  if (!Number.isInteger(expires) || expires < 0 || expires > MAX_EXPIRY_SECONDS) {
    throw new S3Error("AuthorizationQueryParametersError", `X-Amz-Expires must be from 0 to ${MAX_EXPIRY_SECONDS} seconds`);
  }
  if (at - now.getTime() > MAX_CLOCK_SKEW_MS) throw new S3Error("AccessDenied", "Request is not yet valid");
  if (now.getTime() > at + expires * 1000) throw new S3Error("AccessDenied", "Request has expired");
  const signature = required("X-Amz-Signature");
  if (!/^[0-9a-f]{64}$/.test(signature)) throw new S3Error("SignatureDoesNotMatch");
  return {
    ...parseCredential(required("X-Amz-Credential"), "AuthorizationQueryParametersError"),
    time,
    signedHeaders: sortedNames(required("X-Amz-SignedHeaders")),
    signature,
    // The signature of a presigned URL does not cover the body, unless it includes the body's hash.
    payloadHash: parameter(request, "X-Amz-Content-Sha256") ?? UNSIGNED_PAYLOAD,
  };
}

function parseCredential(
  credential: string,
  code: "AuthorizationHeaderMalformed" | "AuthorizationQueryParametersError",
): Pick<SignatureClaim, "accessKeyId" | "scope"> {
  const parts = credential.split("/");
  const [day = "", region = "", service = "", terminator = ""] = parts.slice(-4);
  const accessKeyId = parts.slice(0, -4).join("/");
  if (accessKeyId === "" || !/^\d{8}$/.test(day) || terminator !== "aws4_request") throw new S3Error(code, "the credential is malformed");
  return { accessKeyId, scope: { day, region, service } };
}

/**
 * @throws S3Error for duplicate names: each repetition would add the header's value again to the
 *   text to be signed.
 */
function sortedNames(text: string): string[] {
  const names = text.toLowerCase().split(";");
  if (new Set(names).size !== names.length) throw new S3Error("AccessDenied", "SignedHeaders contains a duplicate");
  return names.toSorted();
}

/**
 * Requires signatures over the host and all x-amz headers, so that a signed request can be sent
 * only as it was signed.
 */
function checkSignedHeaders({ headers }: S3Request, signed: readonly string[]): void {
  const names = new Set(signed);
  if (!names.has("host")) throw new S3Error("AccessDenied", "the host header must be signed");
  for (const name of headers.keys()) {
    if (name.startsWith("x-amz-") && !names.has(name) && !UNSIGNED_HEADERS_ALLOWED.includes(name)) {
      throw new S3Error("AccessDenied", `the header ${name} is not signed`);
    }
  }
}

function parseTime(time: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** Converts an HTTP date to `YYYYMMDDTHHMMSSZ`; returns other texts unchanged. */
function compactTime(date: string): string {
  const at = Date.parse(date);
  return Number.isNaN(at) ? date : `${new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}

function equalsInConstantTime(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
