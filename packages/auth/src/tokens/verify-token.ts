import { createHash } from "node:crypto";
import { BoundedMap } from "@flyte-ts/async";
import { Code, RpcError } from "@flyte-ts/rpc";
import { decodeJwt, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from "jose";

/** Accepted signature algorithms, all with public keys; shared secrets and `none` are refused. */
export const ALGORITHMS = ["RS256", "ES256"] as const;

/** An issuer whose tokens are accepted. */
export interface Issuer {
  /** Exactly as in `iss`. */
  readonly issuer: string;
  /** One of them must be in `aud`. */
  readonly audience: readonly string[];
  readonly keys: JWTVerifyGetKey;
  /** Scopes that a token must have. */
  readonly requiredScopes: readonly string[];
  /** The claim that lists the groups of the caller. */
  readonly groupsClaim: string;
}

export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string | undefined;
  readonly scopes: readonly string[];
  readonly groups: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/**
 * Checks an access token. @throws RpcError UNAUTHENTICATED with the reason; UNAVAILABLE when the
 * keys cannot be fetched.
 */
export type VerifyToken = (token: string) => Promise<Identity>;

export interface VerifyOptions {
  readonly issuers: readonly Issuer[];
  readonly clock: () => Date;
  /** Tolerated difference between clocks, seconds. Default 5. */
  readonly clockSkewSeconds?: number;
  /**
   * Time for which an accepted token is not verified again, ms. Default one minute. Its expiry is
   * checked every time.
   */
  readonly cacheTtlMs?: number;
}

const MAX_TOKEN_CHARACTERS = 16_384;
const MAX_CACHED = 4_096;
/** Accepted `typ` headers: excludes event and logout tokens. */
const TYPES = [undefined, "jwt", "at+jwt", "application/at+jwt"];

interface CachedIdentity {
  readonly identity: Identity;
  readonly until: number;
}

export function createVerifier({ issuers, clock, clockSkewSeconds = 5, cacheTtlMs = 60_000 }: VerifyOptions): VerifyToken {
  const byName = new Map(issuers.map((issuer) => [issuer.issuer, issuer]));
  const known = new BoundedMap<string, CachedIdentity>(MAX_CACHED);
  return async (token) => {
    const key = createHash("sha256").update(token).digest("base64");
    const now = clock();
    const found = known.get(key);
    if (found !== undefined && now.getTime() < found.until) return found.identity;
    known.delete(key);
    const identity = await verify(token, byName, { now, clockSkewSeconds });
    const until = Math.min(identity.expiresAt + clockSkewSeconds * 1000, now.getTime() + cacheTtlMs);
    known.set(key, { identity, until });
    return identity;
  };
}

async function verify(
  token: string,
  issuers: ReadonlyMap<string, Issuer>,
  { now, clockSkewSeconds }: { readonly now: Date; readonly clockSkewSeconds: number },
): Promise<Identity> {
  if (token.length > MAX_TOKEN_CHARACTERS) throw rejectToken("the token is too long");
  const issuer = issuers.get(claimedIssuer(token) ?? "");
  if (issuer === undefined) throw rejectToken("the issuer of the token is not accepted");
  const { payload, protectedHeader } = await jwtVerify(token, issuer.keys, {
    issuer: issuer.issuer,
    audience: [...issuer.audience],
    algorithms: [...ALGORITHMS],
    requiredClaims: ["exp"],
    clockTolerance: clockSkewSeconds,
    currentDate: now,
  }).catch((cause: unknown) => {
    throw rejectionReason(cause);
  });
  if (!TYPES.includes(protectedHeader.typ?.toLowerCase())) throw rejectToken("the token is not an access token");
  const identity = identityOf(payload, issuer);
  const missing = issuer.requiredScopes.find((scope) => !identity.scopes.includes(scope));
  if (missing !== undefined) throw rejectToken(`the token lacks the scope ${JSON.stringify(missing)}`);
  return identity;
}

/** Reads the issuer without verifying it: it only selects the keys for the verification. */
function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    throw rejectToken("the token is not a signed JSON Web Token");
  }
}

function identityOf(payload: JWTPayload, { issuer, groupsClaim }: Issuer): Identity {
  const clientId = textOf(payload.client_id) ?? textOf(payload.azp) ?? textOf(payload.cid);
  const subject = textOf(payload.sub) ?? clientId;
  if (subject === undefined) throw rejectToken("the token has neither a subject nor a client");
  return {
    issuer,
    subject,
    clientId,
    scopes: [...new Set([...listOf(payload.scope), ...listOf(payload.scp)].flatMap((each) => each.split(" ")))].filter(
      (each) => each !== "",
    ),
    groups: listOf(Object.hasOwn(payload, groupsClaim) ? payload[groupsClaim] : undefined),
    claims: payload,
    expiresAt: (payload.exp ?? 0) * 1000,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Reads a list that providers write as a list, or as one text. */
function listOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

function rejectToken(reason: string, cause?: unknown): RpcError {
  return new RpcError(Code.UNAUTHENTICATED, reason, { cause });
}

/** Replaces the library's reason, which may quote the token. */
function rejectionReason(cause: unknown): RpcError {
  if (cause instanceof RpcError) return cause;
  if (cause instanceof errors.JWTExpired) return rejectToken("the token has expired", cause);
  if (cause instanceof errors.JWTClaimValidationFailed) return rejectToken(claimReason(cause), cause);
  if (cause instanceof errors.JWSSignatureVerificationFailed) return rejectToken("the signature of the token does not verify", cause);
  if (cause instanceof errors.JOSEAlgNotAllowed) return rejectToken(`the token must be signed with ${ALGORITHMS.join(" or ")}`, cause);
  if (cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWKSMultipleMatchingKeys) {
    return rejectToken("the token is signed with a key that its issuer does not publish", cause);
  }
  if (cause instanceof errors.JWTInvalid || cause instanceof errors.JWSInvalid || cause instanceof errors.JOSENotSupported) {
    return rejectToken("the token is not a signed JSON Web Token", cause);
  }
  return new RpcError(Code.UNAVAILABLE, "the keys of the token's issuer cannot be fetched, try again", { cause });
}

function claimReason({ claim, reason }: errors.JWTClaimValidationFailed): string {
  switch (claim) {
    case "aud":
      return "the audience of the token is not accepted";
    case "iss":
      return "the issuer of the token is not accepted";
    case "nbf":
      return reason === "check_failed" ? "the token is not valid yet" : "the claim nbf of the token is not a time";
    default:
      return `the claim ${claim} of the token is not accepted`;
  }
}
