import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { isRecent } from "./recent.js";

export interface PublicKey {
  readonly [member: string]: unknown;
  readonly kid: string;
}

/** Minimum interval between reloads for unknown keys, ms. */
const COOLDOWN_MS = 5_000;
const MAX_AGE_MS = 60_000;

/** Keys of the issuer in this program. Another replica may just have created an unknown one. */
export function createLocalKeys(load: () => Promise<readonly PublicKey[]>, clock: () => Date): JWTVerifyGetKey {
  let known: { readonly get: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined;
  const read = async () => {
    known = { get: createLocalJWKSet({ keys: (await load()).map((key) => ({ kty: "", ...key })) }), at: clock().getTime() };
    return known.get;
  };
  return async (header, token) => {
    const get = known !== undefined && isRecent(clock(), known.at, MAX_AGE_MS) ? known.get : await read();
    try {
      return await get(header, token);
    } catch (error) {
      const mayLook = known !== undefined && !isRecent(clock(), known.at, COOLDOWN_MS);
      if (!(error instanceof errors.JWKSNoMatchingKey) || !mayLook) throw error;
      return (await read())(header, token);
    }
  };
}
