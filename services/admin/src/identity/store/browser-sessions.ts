import { BoundedMap } from "@flyte-ts/async";
import { type Identity, isWithinMs } from "@flyte-ts/auth";
import type { Queryable } from "@flyte-ts/postgres";
import { hashOfId, newSessionId, decryptSession, encryptSession } from "./session-encryption.js";

export interface Session {
  readonly identity: Identity;
  readonly refreshToken: string | undefined;
}

export interface SessionStore {
  /** Creates a session. @returns the id for the cookie. */
  create(session: Session): Promise<string>;
  find(id: string): Promise<Session | undefined>;
  replace(id: string, session: Session): Promise<void>;
  delete(id: string): Promise<void>;
}

export interface SessionStoreOptions {
  readonly db: Queryable;
  readonly clock: () => Date;
  readonly sessionSeconds: number;
}

const ID = /^[A-Za-z0-9_-]{43}$/;
/**
 * Cache TTL: one page of the console sends many requests. A session that another replica ended
 * stays valid here for this long.
 */
const CACHE_TTL_MS = 3_000;
const MAX_CACHED = 1_000;

export function createSessionStore({ db, clock, sessionSeconds }: SessionStoreOptions): SessionStore {
  const known = new BoundedMap<string, { readonly session: Session; readonly at: number }>(MAX_CACHED);
  return {
    async create(session) {
      const id = newSessionId();
      const expiresAt = new Date(clock().getTime() + sessionSeconds * 1000);
      await db.query({
        text: "INSERT INTO browser_sessions (id_hash, sealed, expires_at) VALUES ($1, $2, $3)",
        values: [hashOfId(id), encryptSession(id, session), expiresAt],
      });
      return id;
    },
    async find(id) {
      if (!ID.test(id)) return undefined;
      const hash = hashOfId(id);
      const cached = known.get(hash);
      if (cached !== undefined && isWithinMs(clock(), cached.at, CACHE_TTL_MS)) return cached.session;
      known.delete(hash);
      const { rows } = await db.query<{ sealed: Uint8Array }>({
        name: "find-browser-session",
        text: "SELECT sealed FROM browser_sessions WHERE id_hash = $1 AND expires_at > $2",
        values: [hash, clock()],
      });
      if (rows[0] === undefined) return undefined;
      const session = decryptSession(id, rows[0].sealed) as Session;
      known.set(hash, { session, at: clock().getTime() });
      return session;
    },
    async replace(id, session) {
      const hash = hashOfId(id);
      await db.query({ text: "UPDATE browser_sessions SET sealed = $2 WHERE id_hash = $1", values: [hash, encryptSession(id, session)] });
      known.set(hash, { session, at: clock().getTime() });
    },
    async delete(id) {
      known.delete(hashOfId(id));
      await db.query({ text: "DELETE FROM browser_sessions WHERE id_hash = $1", values: [hashOfId(id)] });
    },
  };
}
