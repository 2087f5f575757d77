import type { KeysetPage } from "../../platform/keyset-page.js";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type RoleBinding as Binding, type Role, ROLES } from "@flyte-ts/auth";
import {
  type AuditEntrySchema,
  type AuditService,
  type RoleBinding,
  type RoleBindingSchema,
  type RoleService,
  type TokenService,
} from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { checkText } from "../../platform/identifiers.js";
import { invalidArgument, missingArgument } from "../../platform/rpc-errors.js";
import { parseKeysetPage, nextPageToken } from "../../platform/keyset-page.js";
import { configuredBindings, type IssuerConfig, loadBindings } from "./bindings.js";
import type { AuthConfig } from "../config-schema.js";
import type { Revocations } from "./revocations.js";

export interface AuditRow {
  id: bigint;
  at: Date;
  subject: string;
  client_id: string;
  method: string;
  project: string;
  domain: string;
  identifiers: unknown;
  request_id: string;
  peer: string;
  transport: string;
  ended_at: Date | null;
  code: string | null;
  message: string;
}

/** Lists the audit log, newest first; a page token is the id of the last listed entry. */
export function auditRpcs({ db }: { readonly db: Queryable }): ServiceImplementation<typeof AuditService> {
  return {
    async listAuditEntries({ project, domain, subject, limit, token }) {
      if (project === "" && domain !== "") throw missingArgument("project");
      const page = parseKeysetPage({ limit, token });
      const filter = { project, domain, subject };
      for (const [column, value] of Object.entries(filter)) if (value !== "") checkText(value, column);
      const rows = await listAuditRows(db, filter, page);
      return { entries: rows.map(entryOf), token: nextPageToken(rows, page) };
    },
  };
}

function entryOf(row: AuditRow): MessageInitShape<typeof AuditEntrySchema> {
  return {
    at: timestampFromDate(row.at),
    subject: row.subject,
    clientId: row.client_id,
    method: row.method,
    project: row.project,
    domain: row.domain,
    identifiers: JSON.stringify(row.identifiers),
    requestId: row.request_id,
    peer: row.peer,
    transport: row.transport,
    code: row.code ?? "",
    message: row.message,
    ...(row.ended_at && { endedAt: timestampFromDate(row.ended_at) }),
  };
}

export interface RoleDeps {
  readonly db: Queryable;
  readonly auth: IssuerConfig & Pick<AuthConfig, "roles">;
  readonly clock: () => Date;
  /** Called after a change of the table. */
  readonly changed: () => void;
}

/** Lists, sets and deletes role bindings. */
export function roleRpcs({ db, auth, clock, changed }: RoleDeps): ServiceImplementation<typeof RoleService> {
  return {
    async listRoleBindings() {
      const shown = (binding: Omit<Binding, "issuer">, configured: boolean): MessageInitShape<typeof RoleBindingSchema> => {
        const { kind, name, role, project, domain } = binding;
        return { holder: { case: kind, value: name }, role, project, domain, configured };
      };
      const stored = await loadBindings(db);
      return {
        bindings: [...configuredBindings(auth).map((each) => shown(each, true)), ...stored.map((each) => shown(each, false))],
      };
    },
    async putRoleBinding({ binding }) {
      await insertRoleBinding(db, keyOf(binding), clock());
      changed();
      return {};
    },
    async deleteRoleBinding({ binding }) {
      await deleteRoleBinding(db, keyOf(binding));
      changed();
      return {};
    },
  };
}

function keyOf(binding: RoleBinding | undefined): RoleBindingKey {
  if (binding === undefined) throw missingArgument("binding");
  const { holder, role, project, domain } = binding;
  if (holder.case === undefined) throw missingArgument("binding.subject or binding.group");
  checkText(holder.value, `binding.${holder.case}`);
  if (!ROLES.includes(role as Role)) throw invalidArgument(`invalid value for binding.role: it must be one of ${ROLES.join(", ")}`);
  checkText(project, "binding.project");
  checkText(domain, "binding.domain");
  return { kind: holder.case, name: holder.value, role, project, domain };
}

/** Revokes the tokens of a subject. */
export function tokenRpcs({ revoke }: Pick<Revocations, "revoke">): ServiceImplementation<typeof TokenService> {
  return {
    async revokeTokens({ subject, issuer }) {
      if (subject === "") throw missingArgument("subject");
      checkText(subject, "subject");
      if (issuer !== "") checkText(issuer, "issuer");
      return { notBefore: timestampFromDate(await revoke({ subject, issuer })) };
    },
  };
}

/** Lists entries of the audit log, newest first; an empty field of the filter matches all. */
async function listAuditRows(
  db: Queryable,
  filter: { readonly project: string; readonly domain: string; readonly subject: string },
  page: KeysetPage,
): Promise<readonly AuditRow[]> {
  const where = ["($1::bigint IS NULL OR id < $1)"];
  const values: unknown[] = [page.before, page.limit];
  for (const [column, value] of Object.entries(filter)) {
    if (value === "") continue;
    values.push(value);
    where.push(`${column} = $${values.length}`);
  }
  const { rows } = await db.query<AuditRow>({
    text: `SELECT * FROM audit_log WHERE ${where.join(" AND ")} ORDER BY id DESC LIMIT $2`,
    values,
  });
  return rows;
}

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
