import { ALL, bindingsFrom, createRecent, type Role, type RoleBinding, ROLES } from "@flyte-ts/auth";
import type { Queryable } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import type { AuthConfig } from "./config-schema.js";

interface Row {
  kind: RoleBinding["kind"];
  name: string;
  role: string;
  project: string;
  domain: string;
}

/** Services of the built-in issuer carry executions out; who else does what is said in so many words. */
export function configuredBindings(auth: IssuerConfig & Pick<AuthConfig, "roles">): RoleBinding[] {
  const issuer = firstIssuer(auth);
  const services = (auth.builtIn?.services ?? []).map(
    (name): RoleBinding => ({ kind: "subject", name, issuer, role: "engine", project: ALL, domain: ALL }),
  );
  return [...services, ...bindingsFrom(auth.roles, issuer)];
}

export type IssuerConfig = Pick<AuthConfig, "builtIn" | "publicUrl" | "providers">;

/** The issuer to which clients are sent. Roles that name no issuer are for its users, groups and services alone. */
export function firstIssuer({ builtIn, publicUrl = "", providers }: IssuerConfig): string {
  return builtIn === undefined ? (providers[0]?.issuer ?? "") : publicUrl;
}

/** The roles in the table, all of them for what the first issuer names. One that this version does not know gives nothing. */
export async function loadBindings(db: Queryable): Promise<Omit<RoleBinding, "issuer">[]> {
  const { rows } = await db.query<Row>({
    name: "load-role-bindings",
    text: "SELECT kind, name, role, project, domain FROM role_bindings ORDER BY kind, name, project, domain, role",
  });
  return rows.filter((row): row is Row & { role: Role } => (ROLES as readonly string[]).includes(row.role));
}

export interface BindingsOptions {
  readonly db: Queryable;
  readonly auth: IssuerConfig & Pick<AuthConfig, "roles" | "rolesRefreshSeconds">;
  readonly clock: () => Date;
  readonly logger: Logger;
}

/** While the database stays away the roles of that long ago are still believed, milliseconds. */
const OLDEST_MS = 300_000;
const RETRY_MS = 1_000;

/** Roles of the configuration and of the table, which is read again when what is known of it has become old. */
export function createBindings({ db, auth, clock, logger }: BindingsOptions): {
  readonly current: () => Promise<readonly RoleBinding[]>;
  /** What is known is old: the table was changed here. */
  readonly forget: () => void;
} {
  const configured = configuredBindings(auth);
  const issuer = firstIssuer(auth);
  const known = createRecent<readonly RoleBinding[]>({
    read: async () => [...configured, ...(await loadBindings(db)).map((binding) => ({ ...binding, issuer }))],
    clock,
    freshMs: auth.rolesRefreshSeconds * 1000,
    oldestMs: OLDEST_MS,
    retryMs: RETRY_MS,
    onTrouble: (error) => logger.warn({ err: error }, "roles cannot be read again"),
  });
  return { current: () => known.current(), forget: () => known.forget() };
}
