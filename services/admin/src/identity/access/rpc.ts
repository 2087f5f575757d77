import { checkText, invalidArgument, missingArgument, nextPageToken, parseKeysetPage } from "../../platform/index.js";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type RoleBinding as Binding, type Role, ROLES } from "@flyte-ts/auth";
import type {
  AuditEntrySchema,
  AuditService,
  RoleBinding,
  RoleBindingSchema,
  RoleService,
  TokenService,
} from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { configuredBindings, type IssuerConfig } from "./bindings.js";
import { deleteRoleBinding, insertRoleBinding, loadBindings, type RoleBindingKey } from "../store/role-bindings.js";
import type { AuthConfig } from "../config/auth.js";
import type { Revocations } from "./revocations.js";
import { type AuditRow, listAuditRows } from "../store/audit-log.js";

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
