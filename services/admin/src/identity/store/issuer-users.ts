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

/** Finds a user who may log in. A user with the name of a client may not: their tokens would have the same subject. */
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
