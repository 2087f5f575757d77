import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { createTtlValue } from "../ttl-value.js";

/** Metadata of an identity provider (OpenID Connect Discovery, RFC 8414). */
const metadataSchema = z.looseObject({
  issuer: z.string(),
  jwks_uri: z.string(),
  authorization_endpoint: z.string().default(""),
  token_endpoint: z.string().default(""),
  device_authorization_endpoint: z.string().default(""),
  response_types_supported: z.array(z.string()).default([]),
  scopes_supported: z.array(z.string()).default([]),
  grant_types_supported: z.array(z.string()).default([]),
  token_endpoint_auth_methods_supported: z.array(z.string()).default([]),
  code_challenge_methods_supported: z.array(z.string()).default([]),
});

export type ProviderMetadata = z.infer<typeof metadataSchema>;

export interface ProviderOptions {
  readonly issuer: string;
  /** Address of its metadata; default: `/.well-known/openid-configuration` below the issuer. */
  readonly metadataUrl?: string | undefined;
  /** Address of its keys, in place of the one in the metadata. */
  readonly keysUrl?: string | undefined;
  readonly fetch?: typeof fetch;
  /** Time for which keys and metadata are cached, ms. Default ten minutes. */
  readonly maxAgeMs?: number;
  /** Minimum interval between fetches for unknown keys, ms. Default 30 s. */
  readonly cooldownMs?: number;
  readonly clock: () => Date;
}

/**
 * An external identity provider. Its metadata and keys are fetched on first use and when the cached
 * ones expire.
 */
export interface Provider {
  readonly metadata: () => Promise<ProviderMetadata>;
  readonly keys: JWTVerifyGetKey;
}

const TIMEOUT_MS = 5_000;

export function createProvider(options: ProviderOptions): Provider {
  const { issuer, keysUrl, clock, maxAgeMs = 600_000, cooldownMs = 30_000 } = options;
  const { current: metadata } = createTtlValue({
    read: () => fetchMetadata(options),
    clock,
    ttlMs: maxAgeMs,
    // Outdated keys are better than rejecting every caller.
    maxStaleMs: Number.POSITIVE_INFINITY,
    retryMs: cooldownMs,
  });
  let keys: { readonly uri: string; readonly get: JWTVerifyGetKey } | undefined;
  return {
    metadata,
    keys: async (header, token) => {
      const uri = keysUrl ?? (await metadata()).jwks_uri;
      if (keys?.uri !== uri) {
        const fetched = { timeoutDuration: TIMEOUT_MS, cooldownDuration: cooldownMs, cacheMaxAge: maxAgeMs };
        keys = {
          uri,
          get: createRemoteJWKSet(keysUrl === undefined ? requireSafe(uri, issuer) : new URL(uri), {
            ...fetched,
            ...(options.fetch && { [customFetch]: options.fetch }),
          }),
        };
      }
      return keys.get(header, token);
    },
  };
}

async function fetchMetadata({ issuer, metadataUrl, fetch: send = fetch }: ProviderOptions): Promise<ProviderMetadata> {
  const url = requireSafe(metadataUrl ?? `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, issuer);
  const response = await send(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error", headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(`${url.href} answered ${response.status}`);
  const metadata = metadataSchema.parse(await response.json());
  if (metadata.issuer !== issuer)
    throw new Error(`${url.href} has issuer ${JSON.stringify(metadata.issuer)}, not ${JSON.stringify(issuer)}`);
  return metadata;
}

/**
 * Refuses keys over plain HTTP, which an attacker could replace, unless the issuer's address is
 * plain HTTP as well, as on one machine.
 */
function requireSafe(text: string, issuer: string): URL {
  const url = new URL(text);
  if (url.protocol === "https:" || (url.protocol === "http:" && issuer.startsWith("http:"))) return url;
  throw new Error(`${text} must be https, as the issuer is`);
}
