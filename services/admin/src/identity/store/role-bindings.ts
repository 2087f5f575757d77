import type { Queryable } from "@flyte-ts/postgres";
import { type Role, type RoleBinding, ROLES } from "@flyte-ts/auth";

export interface RoleBindingKey {
  readonly kind: string;
  readonly name: string;
  readonly role: string;
  readonly project: string;
  readonly domain: string;
}

export async function insertRoleBinding(db: Queryable, { kind, name, role, project, domain }: RoleBindingKey, now: Date): Promise<void> {
  await db.query({
    text: `INSERT INTO role_bindings (kind, name, role, project, domain, created_at) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT DO NOTHING`,
    values: [kind, name, role, project, domain, now],
  });
}

export async function deleteRoleBinding(db: Queryable, { kind, name, role, project, domain }: RoleBindingKey): Promise<void> {
  await db.query({
    text: "DELETE FROM role_bindings WHERE kind = $1 AND name = $2 AND role = $3 AND project = $4 AND domain = $5",
    values: [kind, name, role, project, domain],
  });
}

interface Row {
  kind: RoleBinding["kind"];
  name: string;
  role: string;
  project: string;
  domain: string;
}

/**
 * Loads the role bindings of the table, which all apply to the first issuer. Drops roles that this
 * version does not know.
 */
export async function loadBindings(db: Queryable): Promise<Omit<RoleBinding, "issuer">[]> {
  const { rows } = await db.query<Row>({
    name: "load-role-bindings",
    text: "SELECT kind, name, role, project, domain FROM role_bindings ORDER BY kind, name, project, domain, role",
  });
  return rows.filter((row): row is Row & { role: Role } => (ROLES as readonly string[]).includes(row.role));
}
