import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import {
  createGuard,
  type Guard,
  assertAllMethodsHaveRules,
  type Identity,
  type NamedExecution,
  type Principal,
  type VerifyToken,
} from "@flyte-ts/auth";
import { createVerifier, type Issuer, issuersFrom, type Provider } from "@flyte-ts/auth/tokens";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { MyAccessService } from "@flyte-ts/idl/flytets/admin/v1/my_access_pb";
import { AuditService, RoleService, TokenService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { type HttpRoute, implement, type RpcServer, type ServedService } from "@flyte-ts/rpc";
import type { IdentityDeps } from "../deps.js";
import { browserIdentity, type BrowserOptions, browserRoutes } from "../browser/routes.js";
import { myAccessRpcs } from "../caller/access-rpc.js";
import { createSessionStore } from "../store/browser-sessions.js";
import { ISSUER_COOKIES } from "../issuer/provider.js";
import { BROWSER_CLIENT, startIssuer } from "../issuer/start.js";
import type { AuthConfig } from "../config/auth.js";
import { createAuditLog } from "./audit-log.js";
import { createBindings, firstIssuer } from "./bindings.js";
import { createRevocations } from "./revocations.js";
import { auditRpcs, roleRpcs, tokenRpcs } from "./rpc.js";
import { accessRules } from "./rules.js";
import { authMetadataRpcs, identityRpcs, userHeaders } from "./sign-in-rpc.js";

/** Authentication, roles and audit log of one admin process. */
export interface Access extends Guard {
  /** Services that exist only when `auth.mode` is `required`. */
  readonly services: readonly ServedService[];
  /** Routes with which people and programs log in. */
  readonly httpRoutes: readonly HttpRoute[];
  readonly close: () => Promise<void>;
  /** @throws Error when the server has a call without a rule. */
  readonly assertRulesComplete: (server: Pick<RpcServer, "services">) => void;
}

export type AccessDeps = Pick<IdentityDeps, "db" | "clock" | "logger" | "config"> & {
  /**
   * Address on which this admin listens, available once it does: it calls its own issuer there
   * instead of over the network.
   */
  readonly listenAddress: () => AddressInfo;
  /** Finds the principal of an execution, with issuer and groups if they are known. */
  readonly findLauncher: (execution: NamedExecution) => Promise<FoundLauncher | undefined>;
};

interface FoundLauncher {
  readonly principal: string;
  readonly launcher: Pick<Principal, "issuer" | "groups"> | null;
}

export async function createAccess({ db, clock, logger, config, listenAddress, findLauncher }: AccessDeps): Promise<Access> {
  const { auth } = config;
  const { publicUrl } = auth;
  if (publicUrl === undefined) throw new Error("auth.publicUrl must be set");
  const builtIn =
    auth.builtIn === undefined
      ? undefined
      : await startIssuer({ db, clock, logger, publicUrl, config: auth.builtIn, publicClient: auth.publicClient });
  // Accepts audiences with a trailing slash too.
  const elsewhere = issuersFrom(auth.providers, { audience: [publicUrl, `${publicUrl}/`], clock });
  const first = builtIn ?? elsewhere[0]?.provider;
  if (first === undefined) throw new Error("auth.builtIn or auth.providers must be set");
  const own: Issuer[] =
    builtIn === undefined
      ? []
      : [{ issuer: publicUrl, audience: [publicUrl], keys: builtIn.keys, requiredScopes: [], groupsClaim: "groups" }];
  const issuers = [...own, ...elsewhere.map(({ issuer }) => issuer)];
  const bindings = createBindings({ db, auth, clock, logger });
  const revocations = createRevocations({ db, clock, logger, refreshSeconds: auth.rolesRefreshSeconds });
  const table = accessRules(config);
  const verify = createVerifier({ issuers, clock });
  const browser = browserOf({
    auth,
    publicUrl,
    builtIn: builtIn !== undefined,
    tls: config.server.tls !== undefined,
    provider: first,
    verify,
    assertNotRevoked: revocations.check,
    listenAddress,
    db,
    clock,
    logger,
  });
  const guard = createGuard({
    table,
    verify,
    ...(browser && { verifyIdToken: idTokenVerifier({ issuers, clientId: browser.client.clientId, clock }) }),
    ...(browser && { session: browserIdentity(browser) }),
    headerKey: auth.headerKey,
    bindings: bindings.current,
    assertNotRevoked: revocations.check,
    launcherOf: async (execution) => {
      const found = await findLauncher(execution);
      // Executions of earlier versions have neither issuer nor groups.
      return found && { issuer: firstIssuer(auth), groups: [], ...found.launcher, subject: found.principal };
    },
    clock,
    audit: createAuditLog({ db, clock, logger }),
  });
  return {
    ...guard,
    services: [
      implement(AuthMetadataService, authMetadataRpcs({ auth, provider: first })),
      { ...implement(IdentityService, identityRpcs()), responseHeaders: userHeaders },
      implement(MyAccessService, myAccessRpcs(bindings.current)),
      implement(AuditService, auditRpcs({ db })),
      implement(RoleService, roleRpcs({ db, auth, clock, changed: bindings.forget })),
      implement(TokenService, tokenRpcs(revocations)),
    ],
    httpRoutes: [...(builtIn?.routes ?? []), ...(browser === undefined ? [] : browserRoutes(browser))],
    close: async () => builtIn?.close(),
    assertRulesComplete: ({ services }) => assertAllMethodsHaveRules(services, table),
  };
}

/** Verifies ID tokens: their audience is the client for browser logins, and they have no scopes. */
function idTokenVerifier({ issuers, clientId, clock }: { issuers: readonly Issuer[]; clientId: string; clock: () => Date }): VerifyToken {
  return createVerifier({ issuers: issuers.map((issuer) => ({ ...issuer, audience: [clientId], requiredScopes: [] })), clock });
}

interface BrowserDeps extends Pick<AccessDeps, "db" | "clock" | "logger" | "listenAddress"> {
  readonly auth: AuthConfig;
  readonly publicUrl: string;
  readonly builtIn: boolean;
  /** Admin's own port accepts TLS only. */
  readonly tls: boolean;
  readonly provider: Pick<Provider, "metadata">;
  readonly verify: VerifyToken;
  readonly assertNotRevoked: (identity: Identity) => Promise<void>;
}

/** Configures browser logins; undefined without a client for them. */
function browserOf({
  auth,
  publicUrl,
  builtIn,
  tls,
  provider,
  verify,
  assertNotRevoked,
  listenAddress,
  db,
  clock,
  logger,
}: BrowserDeps): BrowserOptions | undefined {
  const { browser: config } = auth;
  const clientId = builtIn ? BROWSER_CLIENT : config.clientId;
  if (clientId === undefined) return undefined;
  const { clientSecretFile: file } = config;
  return {
    config,
    publicUrl,
    provider,
    client: {
      clientId,
      secret: async () => (builtIn || file === undefined ? undefined : readFile(file, "utf8")),
      tokenEndpoint: async () => {
        const { token_endpoint: endpoint } = await provider.metadata();
        // With TLS the certificate is valid for the public name only.
        return builtIn && !tls ? endpoint.replace(publicUrl, urlOf(listenAddress())) : endpoint;
      },
    },
    verify,
    assertNotRevoked,
    sessions: createSessionStore({ db, clock, sessionSeconds: config.sessionSeconds }),
    clock,
    logger,
    extraLogoutCookies: builtIn ? ISSUER_COOKIES : [],
  };
}

/** Replaces a wildcard bind address by the loopback address. */
function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${family === "IPv6" ? `[${host}]` : host}:${port}`;
}
