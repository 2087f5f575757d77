import { createTtlValue, type Identity } from "@flyte-ts/auth";
import { type Database, type Queryable, taskFailures } from "@flyte-ts/postgres";
import { Code, RpcError } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import { insertRevocation, loadRevocations, type Revocation } from "../store/revocations.js";
import { deleteGrantsOf } from "../store/issuer-state.js";

export interface Revocations {
  /** @throws RpcError UNAUTHENTICATED when the token was issued before a revocation. */
  readonly check: (identity: Identity) => Promise<void>;
  /** Revokes all tokens issued so far. @returns the time before which issued tokens are invalid. */
  readonly revoke: (what: Revocation) => Promise<Date>;
}

export interface RevocationsOptions {
  readonly db: Pick<Database, "query" | "outages">;
  readonly clock: () => Date;
  readonly logger: Logger;
  /** Delay until revocations by another replica apply here, seconds. */
  readonly refreshSeconds: number;
}

/** Serves cached revocations for at most this long while the database is unavailable, ms. */
const MAX_STALE_MS = 300_000;
const RETRY_MS = 1_000;

type Known = ReadonlyMap<string, number>;
const keyOf = ({ issuer, subject }: Revocation): string => JSON.stringify([issuer, subject]);

/** Revoked tokens. All rows are cached: there is at most one per subject. */
export function createRevocations({ db, clock, logger, refreshSeconds }: RevocationsOptions): Revocations {
  const known = createTtlValue({
    read: () => loadTimes(db),
    clock,
    ttlMs: refreshSeconds * 1000,
    maxStaleMs: MAX_STALE_MS,
    retryMs: RETRY_MS,
    onRefreshError: (error) =>
      taskFailures(db, logger).failed({ task: "revoked tokens", error, message: "revoked tokens cannot be refreshed" }),
  });
  return {
    check: async ({ issuer, subject, claims }) => {
      const times = await known.current();
      if (times.size === 0) return;
      const notBefore = Math.max(...["", issuer].map((each) => times.get(keyOf({ issuer: each, subject })) ?? 0));
      // A token's `iat` has a resolution of seconds; a token without it counts as issued before any
      // revocation.
      const issuedAt = typeof claims.iat === "number" ? claims.iat * 1000 : 0;
      if (issuedAt < notBefore) throw new RpcError(Code.UNAUTHENTICATED, "the token was revoked: sign in again");
    },
    revoke: async (what) => {
      const now = clock();
      await insertRevocation(db, what, now);
      // Deletes the grants, since an old refresh token would yield new access tokens.
      await deleteGrantsOf(db, what.subject);
      known.invalidate();
      return now;
    },
  };
}

async function loadTimes(db: Queryable): Promise<Known> {
  return new Map((await loadRevocations(db)).map((row) => [keyOf(row), row.not_before.getTime()]));
}
