import { createGuard, createProvider, createVerifier, type Guard, type Issuer, requireRules } from "@flyte-ts/auth";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { AuditService, RoleService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { type HttpRoute, implement, type RpcServer, type ServedService } from "@flyte-ts/rpc";
import type { AdminDeps } from "../deps.js";
import { startIssuer } from "../issuer/start.js";
import { createAuditLog } from "./audit-log.js";
import { createBindings } from "./bindings.js";
import { auditRpcs, roleRpcs } from "./rpc.js";
import { accessRules } from "./rules.js";
import { authMetadataRpcs, identityRpcs } from "./sign-in-rpc.js";

/** Sign-in, roles and the audit log of one admin. */
export interface Access extends Guard {
  /** Services that only an admin has that asks callers who they are. */
  readonly services: readonly ServedService[];
  /** Where people and programs sign in. */
  readonly httpRoutes: readonly HttpRoute[];
  readonly close: () => Promise<void>;
  /** @throws Error when the server offers a call that no rule speaks of. */
  readonly requireComplete: (server: Pick<RpcServer, "services">) => void;
}

export type AccessDeps = Pick<AdminDeps, "db" | "clock" | "logger" | "config">;

export async function createAccess({ db, clock, logger, config }: AccessDeps): Promise<Access> {
  const { auth } = config;
  const { publicUrl } = auth;
  if (publicUrl === undefined) throw new Error("auth.publicUrl must be given");
  const builtIn =
    auth.builtIn === undefined
      ? undefined
      : await startIssuer({ db, clock, logger, publicUrl, config: auth.builtIn, publicClient: auth.publicClient });
  const providers = auth.providers.map((settings) => ({
    settings,
    provider: createProvider({ issuer: settings.issuer, metadataUrl: settings.metadataUrl, clock }),
  }));
  const first = builtIn ?? providers[0]?.provider;
  if (first === undefined) throw new Error("auth.builtIn or auth.providers must be given");
  const audience = publicUrl.replace(/\/+$/, "");
  const issuers = providers.map(
    ({ settings, provider }): Issuer => ({
      issuer: settings.issuer,
      audience: settings.audience.length > 0 ? settings.audience : [publicUrl, audience],
      keys: provider.keys,
      requiredScopes: settings.requiredScopes,
      groupsClaim: settings.groupsClaim,
    }),
  );
  if (builtIn !== undefined) {
    issuers.unshift({ issuer: audience, audience: [audience], keys: builtIn.keys, requiredScopes: [], groupsClaim: "groups" });
  }
  const bindings = createBindings({ db, auth, clock, logger });
  const table = accessRules(config);
  const guard = createGuard({
    table,
    verify: createVerifier({ issuers, clock }),
    headerKey: auth.headerKey,
    bindings: bindings.current,
    record: createAuditLog({ db, clock, logger }),
  });
  return {
    ...guard,
    services: [
      implement(AuthMetadataService, authMetadataRpcs({ auth, provider: first })),
      implement(IdentityService, identityRpcs()),
      implement(AuditService, auditRpcs({ db })),
      implement(RoleService, roleRpcs({ db, auth, clock, changed: bindings.forget })),
    ],
    httpRoutes: builtIn?.routes ?? [],
    close: async () => builtIn?.close(),
    requireComplete: ({ services }) => requireRules(services, table),
  };
}
