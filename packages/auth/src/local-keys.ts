import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { isRecent } from "./recent.js";

export interface PublicKey {
  readonly [member: string]: unknown;
  readonly kid: string;
}

/** An unknown key makes it look again no more often than this. */
const COOLDOWN_MS = 5_000;
const MAX_AGE_MS = 60_000;

/** Keys of an issuer that is this very program. An unknown one may have been made by another replica just now. */
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
