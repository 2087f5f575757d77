import { createGuard, createProvider, createVerifier, type Guard, type Issuer, requireRules } from "@flyte-ts/auth";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { AuditService, RoleService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { implement, type RpcServer, type ServedService } from "@flyte-ts/rpc";
import type { AdminDeps } from "../deps.js";
import { createAuditLog } from "./audit-log.js";
import { createBindings } from "./bindings.js";
import { auditRpcs, roleRpcs } from "./rpc.js";
import { accessRules } from "./rules.js";
import { authMetadataRpcs, identityRpcs } from "./sign-in-rpc.js";

/** Sign-in, roles and the audit log of one admin. */
export interface Access extends Guard {
  /** Services that only an admin has that asks callers who they are. */
  readonly services: readonly ServedService[];
  /** @throws Error when the server offers a call that no rule speaks of. */
  readonly requireComplete: (server: Pick<RpcServer, "services">) => void;
}

export type AccessDeps = Pick<AdminDeps, "db" | "clock" | "logger" | "config">;

export function createAccess({ db, clock, logger, config }: AccessDeps): Access {
  const { auth } = config;
  const providers = auth.providers.map((settings) => ({
    settings,
    provider: createProvider({ issuer: settings.issuer, metadataUrl: settings.metadataUrl, clock }),
  }));
  const [first] = providers;
  if (first === undefined || auth.publicUrl === undefined) throw new Error("auth.providers and auth.publicUrl must be given");
  const { publicUrl } = auth;
  const issuers = providers.map(
    ({ settings, provider }): Issuer => ({
      issuer: settings.issuer,
      audience: settings.audience.length > 0 ? settings.audience : [publicUrl],
      keys: provider.keys,
      requiredScopes: settings.requiredScopes,
      groupsClaim: settings.groupsClaim,
    }),
  );
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
      implement(AuthMetadataService, authMetadataRpcs({ auth, provider: first.provider })),
      implement(IdentityService, identityRpcs()),
      implement(AuditService, auditRpcs({ db })),
      implement(RoleService, roleRpcs({ db, auth, clock, changed: bindings.forget })),
    ],
    requireComplete: ({ services }) => requireRules(services, table),
  };
}
