import { WILDCARD, bindingsFrom, createTtlValue, type Role, type RoleBinding, ROLES } from "@flyte-ts/auth";
import type { Queryable } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import type { AuthConfig } from "../config-schema.js";

interface Row {
  kind: RoleBinding["kind"];
  name: string;
  role: string;
  project: string;
  domain: string;
}

/** Role bindings from the configuration: the engine role for the services of the built-in issuer, and `auth.roles`. */
export function configuredBindings(auth: IssuerConfig & Pick<AuthConfig, "roles">): RoleBinding[] {
  const issuer = firstIssuer(auth);
  const services = (auth.builtIn?.services ?? []).map(
    (name): RoleBinding => ({ kind: "subject", name, issuer, role: "engine", project: WILDCARD, domain: WILDCARD }),
  );
  return [...services, ...bindingsFrom(auth.roles, issuer)];
}

export type IssuerConfig = Pick<AuthConfig, "builtIn" | "publicUrl" | "providers">;

/** Returns the issuer to which clients are sent. Roles without an issuer apply only to its users, groups and services. */
export function firstIssuer({ builtIn, publicUrl = "", providers }: IssuerConfig): string {
  return builtIn === undefined ? (providers[0]?.issuer ?? "") : publicUrl;
}

/** Loads the role bindings of the table, which all apply to the first issuer. Drops roles that this version does not know. */
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

/** Serves cached roles for at most this long while the database is unavailable, ms. */
const MAX_STALE_MS = 300_000;
const RETRY_MS = 1_000;

/** Role bindings of the configuration and the table, in a TTL cache. */
export function createBindings({ db, auth, clock, logger }: BindingsOptions): {
  readonly current: () => Promise<readonly RoleBinding[]>;
  /** Invalidates the cache after a change of the table by this process. */
  readonly forget: () => void;
} {
  const configured = configuredBindings(auth);
  const issuer = firstIssuer(auth);
  const known = createTtlValue<readonly RoleBinding[]>({
    read: async () => [...configured, ...(await loadBindings(db)).map((binding) => ({ ...binding, issuer }))],
    clock,
    ttlMs: auth.rolesRefreshSeconds * 1000,
    maxStaleMs: MAX_STALE_MS,
    retryMs: RETRY_MS,
    onRefreshError: (error) => logger.warn({ err: error }, "roles cannot be read again"),
  });
  return { current: () => known.current(), forget: () => known.invalidate() };
}
