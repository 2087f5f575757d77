import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { isWithinMs } from "../ttl-value.js";

export interface PublicKey {
  readonly [member: string]: unknown;
  readonly kid: string;
}

/** Minimum interval between reloads for unknown keys, ms. */
const COOLDOWN_MS = 5_000;
const MAX_AGE_MS = 60_000;

/**
 * Creates the key set of the issuer in this program. Reloads the keys for an unknown key, because
 * another replica may just have created it.
 */
export function createLocalJwks(load: () => Promise<readonly PublicKey[]>, clock: () => Date): JWTVerifyGetKey {
  let known: { readonly get: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined;
  const read = async () => {
    known = { get: createLocalJWKSet({ keys: (await load()).map((key) => ({ kty: "", ...key })) }), at: clock().getTime() };
    return known.get;
  };
  return async (header, token) => {
    const get = known !== undefined && isWithinMs(clock(), known.at, MAX_AGE_MS) ? known.get : await read();
    try {
      return await get(header, token);
    } catch (error) {
      const mayReload = known !== undefined && !isWithinMs(clock(), known.at, COOLDOWN_MS);
      if (!(error instanceof errors.JWKSNoMatchingKey) || !mayReload) throw error;
      return (await read())(header, token);
    }
  };
}
