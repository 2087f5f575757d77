import type { Queryable } from "@flyte-ts/postgres";
import type { Adapter, AdapterPayload } from "oidc-provider";
import { findClient } from "./issuer-clients.js";

interface Row {
  payload: AdapterPayload;
}

export interface StateDeps {
  readonly db: Queryable;
  readonly clock: () => Date;
  /** Throws the error for a request whose parameters the database cannot store. */
  readonly rejectInvalidText: () => never;
}

/** Storage of oidc-provider for one kind of model; clients have their own table. */
export function stateAdapter({ db, clock, rejectInvalidText }: StateDeps, kind: string): Adapter {
  const one = async (column: "id" | "uid" | "user_code", value: string): Promise<AdapterPayload | undefined> => {
    if (value.includes("\0")) return undefined;
    const { rows } = await db.query<Row>({
      name: `find-issuer-state-by-${column}`,
      text: `SELECT payload FROM issuer_state WHERE kind = $1 AND ${column} = $2 AND (expires_at IS NULL OR expires_at > $3)`,
      values: [kind, value, clock()],
    });
    return rows[0]?.payload;
  };
  return {
    find: async (id) => (kind === "Client" ? clientPayload(db, id) : one("id", id)),
    findByUid: (uid) => one("uid", uid),
    findByUserCode: (userCode) => one("user_code", userCode),
    upsert: async (id, payload, expiresIn) => {
      if (!isStorable(payload)) rejectInvalidText();
      const expiresAt = expiresIn !== undefined && expiresIn > 0 ? new Date(clock().getTime() + expiresIn * 1000) : null;
      await db.query({
        name: "put-issuer-state",
        text: `INSERT INTO issuer_state (kind, id, payload, grant_id, user_code, uid, expires_at) VALUES ($1, $2, $3::jsonb, $4, $5, $6, $7)
          ON CONFLICT (kind, id) DO UPDATE SET payload = $3::jsonb, grant_id = $4, user_code = $5, uid = $6, expires_at = $7`,
        values: [kind, id, JSON.stringify(payload), payload.grantId ?? null, payload.userCode ?? null, payload.uid ?? null, expiresAt],
      });
    },
    consume: async (id) => {
      await db.query({
        name: "consume-issuer-state",
        text: `UPDATE issuer_state SET payload = payload || jsonb_build_object('consumed', $3::bigint) WHERE kind = $1 AND id = $2`,
        values: [kind, id, Math.floor(clock().getTime() / 1000)],
      });
    },
    destroy: async (id) => {
      await db.query({ name: "drop-issuer-state", text: "DELETE FROM issuer_state WHERE kind = $1 AND id = $2", values: [kind, id] });
    },
    revokeByGrantId: async (grantId) => {
      await db.query({ name: "revoke-issuer-grant", text: "DELETE FROM issuer_state WHERE grant_id = $1", values: [grantId] });
    },
  };
}

/** True when jsonb can store the value: it contains neither NUL characters nor lone surrogates. */
function isStorable(value: unknown): boolean {
  if (typeof value === "string") return !value.includes("\0") && value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, each]) => isStorable(key) && isStorable(each));
}

async function clientPayload(db: Queryable, id: string): Promise<AdapterPayload | undefined> {
  const client = await findClient(db, id);
  if (client === undefined) return undefined;
  if (client.kind === "service") {
    return {
      client_id: client.clientId,
      client_secret: client.secretHash,
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    };
  }
  const grants = ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"];
  return {
    client_id: client.clientId,
    token_endpoint_auth_method: "none",
    application_type: client.redirectUris.every((uri) => uri.startsWith("http://localhost:")) ? "native" : "web",
    grant_types: client.redirectUris.length > 0 ? grants : grants.slice(1),
    redirect_uris: [...client.redirectUris],
    response_types: client.redirectUris.length > 0 ? ["code"] : [],
  };
}

/** Deletes expired rows. */
export async function dropExpiredState(db: Queryable, now: Date): Promise<void> {
  for (const table of ["issuer_state", "browser_sessions"]) {
    await db.query({ text: `DELETE FROM ${table} WHERE expires_at < $1`, values: [now] });
  }
}

/** Deletes what the built-in issuer has granted to an account, such as refresh tokens. */
export async function deleteGrantsOf(db: Queryable, account: string): Promise<void> {
  await db.query({ text: "DELETE FROM issuer_state WHERE payload->>'accountId' = $1", values: [account] });
}
