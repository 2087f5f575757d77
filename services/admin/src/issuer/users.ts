import type { Queryable } from "@flyte-ts/postgres";
import { verifyPassword } from "./password.js";

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

/** A user who may sign in. One who is called like a client is none: their tokens would look like the client's. */
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

/** Slows down who guesses: so many wrong passwords for one name, then none is looked at for a while. */
const MAX_FAILURES = 10;
const FAILURE_MS = 300_000;
const MAX_NAMES = 10_000;
/** Each takes a core for some time. */
const MAX_AT_ONCE = 2;

export type CheckPassword = (name: string, password: string) => Promise<"right" | "wrong" | "too-often">;

export function createPasswordCheck(db: Queryable, clock: () => Date): CheckPassword {
  const failures = new Map<string, { count: number; readonly since: number }>();
  let running = 0;
  return async (name, password) => {
    const now = clock().getTime();
    const known = failures.get(name);
    const recent = known !== undefined && now - known.since < FAILURE_MS ? known : undefined;
    if ((recent?.count ?? 0) >= MAX_FAILURES || running >= MAX_AT_ONCE) return "too-often";
    running += 1;
    try {
      const user = await findUser(db, name);
      if (await verifyPassword(password, user?.passwordHash ?? "")) {
        failures.delete(name);
        return "right";
      }
      if (failures.size >= MAX_NAMES) failures.delete(failures.keys().next().value ?? "");
      failures.set(name, { count: (recent?.count ?? 0) + 1, since: recent?.since ?? now });
      return "wrong";
    } finally {
      running -= 1;
    }
  };
}
