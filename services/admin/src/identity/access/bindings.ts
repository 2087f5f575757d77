import { bindingsFrom, createTtlValue, type RoleBinding, WILDCARD } from "@flyte-ts/auth";
import { type Database, taskFailures } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import type { AuthConfig } from "../config/auth.js";
import { loadBindings } from "../store/role-bindings.js";

/**
 * Role bindings from the configuration: the engine role for the services of the built-in issuer,
 * and `auth.roles`.
 */
export function configuredBindings(auth: IssuerConfig & Pick<AuthConfig, "roles">): RoleBinding[] {
  const issuer = firstIssuer(auth);
  const services = (auth.builtIn?.services ?? []).map(
    (name): RoleBinding => ({ kind: "subject", name, issuer, role: "engine", project: WILDCARD, domain: WILDCARD }),
  );
  return [...services, ...bindingsFrom(auth.roles, issuer)];
}

export type IssuerConfig = Pick<AuthConfig, "builtIn" | "publicUrl" | "providers">;

/**
 * Returns the issuer to which clients are sent. Roles without an issuer apply only to its users,
 * groups and services.
 */
export function firstIssuer({ builtIn, publicUrl = "", providers }: IssuerConfig): string {
  return builtIn === undefined ? (providers[0]?.issuer ?? "") : publicUrl;
}

export interface BindingsOptions {
  readonly db: Pick<Database, "query" | "outages">;
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
    onRefreshError: (error) => taskFailures(db, logger).failed({ task: "roles", error, message: "roles cannot be refreshed" }),
  });
  return { current: () => known.current(), forget: () => known.invalidate() };
}
