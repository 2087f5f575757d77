import { generateKeyPair as generate, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import type { Database, Queryable } from "@flyte-ts/postgres";

/** A private key as JSON (RFC 7517). */
export interface SigningKey {
  readonly [member: string]: unknown;
  readonly kid: string;
}

export interface IssuerKeys {
  /** Newest first: it signs, the others only verify. */
  readonly signing: readonly SigningKey[];
  /** Newest first. */
  readonly cookies: readonly string[];
}

interface Row {
  kid: string;
  purpose: "sign" | "cookie";
  secret: unknown;
}

const generateKeyPair = promisify(generate);
/** Serializes the creation of keys: any number of replicas may start concurrently. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtext('issuer_keys'))";
const SELECT = "SELECT kid, purpose, secret FROM issuer_keys ORDER BY created_at DESC, kid";

/** Loads the keys; creates them if there are none. */
export async function loadKeys(db: Database, clock: () => Date): Promise<IssuerKeys> {
  const known = read((await db.query<Row>({ text: SELECT })).rows);
  if (known.signing.length > 0 && known.cookies.length > 0) return known;
  return db.transaction(async (tx) => {
    await tx.query({ text: LOCK });
    const there = read((await tx.query<Row>({ text: SELECT })).rows);
    if (there.signing.length === 0) await addSigningKey(tx, clock());
    if (there.cookies.length === 0)
      await insert(
        tx,
        { kid: randomBytes(9).toString("base64url"), purpose: "cookie", secret: randomBytes(32).toString("base64url") },
        clock(),
      );
    return read((await tx.query<Row>({ text: SELECT })).rows);
  });
}

function read(rows: readonly Row[]): IssuerKeys {
  return {
    signing: rows.filter(({ purpose }) => purpose === "sign").map(({ secret }) => secret as SigningKey),
    cookies: rows.filter(({ purpose }) => purpose === "cookie").map(({ secret }) => String(secret)),
  };
}

/**
 * Adds a key, which signs from now on. Replicas load it within a minute, and verify with the
 * earlier ones until they are deleted.
 */
export async function addSigningKey(db: Queryable, now: Date): Promise<string> {
  const { privateKey } = await generateKeyPair("rsa", { modulusLength: 2048 });
  const kid = randomBytes(9).toString("base64url");
  const secret = { ...privateKey.export({ format: "jwk" }), kid, use: "sig", alg: "RS256" };
  await insert(db, { kid, purpose: "sign", secret }, now);
  return kid;
}

async function insert(db: Queryable, { kid, purpose, secret }: Row, now: Date): Promise<void> {
  await db.query({
    text: "INSERT INTO issuer_keys (kid, purpose, secret, created_at) VALUES ($1, $2, $3::jsonb, $4)",
    values: [kid, purpose, JSON.stringify(secret), now],
  });
}

/** Deletes signing keys created before a time, but never the newest. @returns their number. */
export async function dropSigningKeys(db: Queryable, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    text: `DELETE FROM issuer_keys WHERE purpose = 'sign' AND created_at < $1
      AND kid <> (SELECT kid FROM issuer_keys WHERE purpose = 'sign' ORDER BY created_at DESC, kid LIMIT 1)`,
    values: [before],
  });
  return rowCount;
}

const PUBLIC_MEMBERS = ["kty", "n", "e", "kid", "use", "alg"];

/** Returns the public part of a key. */
export function publicKey(key: SigningKey): SigningKey {
  return { ...Object.fromEntries(PUBLIC_MEMBERS.map((member) => [member, key[member]])), kid: key.kid };
}
