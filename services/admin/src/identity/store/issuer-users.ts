import type { Queryable } from "@flyte-ts/postgres";

export interface User {
  readonly name: string;
  readonly displayName: string;
  readonly email: string;
  readonly groups: readonly string[];
}

interface Row {
  name: string;
  password_hash: string;
  display_name: string;
  email: string;
  groups: string[];
}

/**
 * Finds a user who may log in. A user with the name of a client may not: their tokens would have
 * the same subject.
 */
export async function findUser(db: Queryable, name: string): Promise<(User & { readonly passwordHash: string }) | undefined> {
  if (name.includes("\0")) return undefined;
  const { rows } = await db.query<Row>({
    name: "find-issuer-user",
    text: `SELECT name, password_hash, display_name, email, groups FROM issuer_users
      WHERE name = $1 AND NOT disabled AND NOT EXISTS (SELECT FROM issuer_clients WHERE client_id = $1)`,
    values: [name],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  return { name: row.name, passwordHash: row.password_hash, displayName: row.display_name, email: row.email, groups: row.groups };
}

export async function isUser(db: Queryable, name: string): Promise<boolean> {
  return (await db.query({ text: "SELECT FROM issuer_users WHERE name = $1", values: [name] })).rowCount > 0;
}

/** Disables a user. Returns false when there is no such user. */
export async function disableUser(db: Queryable, name: string): Promise<boolean> {
  return (await db.query({ text: "UPDATE issuer_users SET disabled = true WHERE name = $1", values: [name] })).rowCount > 0;
}

export interface UserInsert {
  readonly name: string;
  readonly passwordHash: string;
  readonly displayName: string;
  readonly email: string;
  readonly groups: readonly string[];
  readonly now: Date;
}

/** Stores a user, or replaces the data of an existing one and enables it. */
export async function storeUser(db: Queryable, { name, passwordHash, displayName, email, groups, now }: UserInsert): Promise<void> {
  await db.query({
    text: `INSERT INTO issuer_users (name, password_hash, display_name, email, groups, created_at) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (name) DO UPDATE SET password_hash = $2, display_name = $3, email = $4, groups = $5, disabled = false`,
    values: [name, passwordHash, displayName, email, groups, now],
  });
}
