import type { EventEmitter } from "node:events";
import type { Queryable } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import type { Configuration, KoaContextWithOIDC, Provider } from "oidc-provider";
import { secretMatches } from "../store/issuer-clients.js";
import type { IssuerKeys } from "../store/issuer-keys.js";
import { escapeHtml, PAGE_HEADERS, page } from "./pages.js";
import { suppressErrorDetails } from "./suppress-error-details.js";
import { stateAdapter } from "../store/issuer-state.js";
import { findUser } from "../store/issuer-users.js";

export interface ProviderOptions {
  /** Also the audience of the tokens. */
  readonly issuer: string;
  readonly keys: IssuerKeys;
  readonly db: Queryable;
  readonly clock: () => Date;
  readonly logger: Logger;
  readonly accessTokenSeconds: number;
  readonly refreshTokenSeconds: number;
}

const SESSION_COOKIE = "flyte_issuer_session";
/** Cookies of the issuer's login session. */
export const ISSUER_COOKIES: readonly string[] = [SESSION_COOKIE, `${SESSION_COOKIE}.sig`];

/** Paths of the issuer. */
export const ENDPOINTS = {
  authorization: "/oauth2/authorize",
  token: "/oauth2/token",
  jwks: "/oauth2/jwks",
  device_authorization: "/oauth2/device_authorization",
  code_verification: "/oauth2/device",
  revocation: "/oauth2/revoke",
} as const;

/** Prefix of the pages on which users sign in. */
export const INTERACTION_PATH = "/oauth2/interaction/";

/** Minimum interval between polls of the device flow, seconds. */
const POLL_SECONDS = 5;

/** Scopes that Flyte's clients request. */
const SCOPES = "all offline";

/**
 * The issuer: oidc-provider with its state in PostgreSQL. Loaded on demand, since it takes about 45
 * MB and 0.4 s. Access tokens are JSON Web Tokens for admin; users are not asked for consent, since
 * all clients belong to the installation.
 */
export async function createOidcProvider(options: ProviderOptions): Promise<Provider> {
  const { default: OidcProvider, errors } = await import("oidc-provider");
  const rejectInvalidText = (): never => {
    throw new errors.InvalidRequest("parameters must not contain NUL characters");
  };
  const provider = new OidcProvider(options.issuer, configurationOf(options, rejectInvalidText));
  // Requests arrive through admin's own server, which replaces a client's host and protocol headers
  // by those of the issuer.
  provider.proxy = true;
  const client = provider.Client as unknown as {
    readonly prototype: { clientSecret: string; compareClientSecret(given: string): boolean };
  };
  client.prototype.compareClientSecret = function compare(given) {
    return secretMatches(this.clientSecret, given);
  };
  provider.use(async (ctx, next) => {
    dropIdleNonce(ctx);
    await suppressErrorDetails(ctx, next);
    const { body } = ctx;
    // RFC 8628 makes it optional; flytekit 1.16 fails without it.
    if (ctx.oidc?.route === "device_authorization" && isFields(body) && "device_code" in body)
      ctx.body = { interval: POLL_SECONDS, ...body };
  });
  provider.on("server_error", (_, error) => options.logger.error({ err: error }, "the built-in identity provider failed"));
  // Without a listener Koa would write the stack to standard error.
  (provider as EventEmitter).on("error", (error: Error) => options.logger.error({ err: error }, "the built-in identity provider failed"));
  return provider;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Buffer.isBuffer(value);
}

/**
 * Drops a nonce without a request for an ID token, the only token that would contain it: flytectl
 * sends one, which the library rejects.
 */
function dropIdleNonce(ctx: Pick<KoaContextWithOIDC, "query">): void {
  const { nonce, scope, ...query } = ctx.query;
  const wantsIdToken = String(scope ?? "")
    .split(" ")
    .includes("openid");
  if (nonce !== undefined && !wantsIdToken) ctx.query = { ...query, ...(scope !== undefined && { scope }) };
}

function configurationOf(
  { issuer, keys, db, clock, accessTokenSeconds, refreshTokenSeconds }: ProviderOptions,
  rejectInvalidText: () => never,
): Configuration {
  const secure = issuer.startsWith("https:");
  const cookie = { httpOnly: true, sameSite: "lax", secure, signed: true } as const;
  return {
    adapter: (kind: string) => stateAdapter({ db, clock, rejectInvalidText }, kind),
    jwks: { keys: keys.signing.map((key) => ({ ...key })) },
    cookies: {
      keys: [...keys.cookies],
      names: { session: SESSION_COOKIE, interaction: "flyte_issuer_interaction", resume: "flyte_issuer_resume" },
      long: cookie,
      short: cookie,
    },
    scopes: ["openid", "offline_access", "profile", "email", ...SCOPES.split(" ")],
    claims: { openid: ["sub", "groups"], profile: ["name", "preferred_username"], email: ["email"] },
    routes: ENDPOINTS,
    interactions: { url: (_, { uid }) => `${INTERACTION_PATH}${uid}` },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      deviceFlow: { enabled: true, userCodeInputSource, userCodeConfirmSource, successSource },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => issuer,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: SCOPES,
          audience: issuer,
          accessTokenFormat: "jwt",
          accessTokenTTL: accessTokenSeconds,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    ttl: {
      AccessToken: accessTokenSeconds,
      ClientCredentials: accessTokenSeconds,
      AuthorizationCode: 300,
      DeviceCode: 600,
      Interaction: 600,
      IdToken: accessTokenSeconds,
      RefreshToken: refreshTokenSeconds,
      Grant: refreshTokenSeconds,
      Session: refreshTokenSeconds,
    },
    issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    findAccount: async (_, name) => {
      const user = await findUser(db, name);
      if (user === undefined) return undefined;
      const claims = {
        sub: name,
        name: user.displayName || name,
        preferred_username: name,
        email: user.email || undefined,
        groups: [...user.groups],
      };
      return { accountId: name, claims: () => claims };
    },
    extraTokenClaims: async (_, token) => {
      if (token.kind !== "AccessToken") return undefined;
      const user = await findUser(db, token.accountId);
      if (user === undefined) return undefined;
      const { displayName, email, groups } = user;
      return {
        preferred_username: token.accountId,
        name: displayName || token.accountId,
        ...(email !== "" && { email }),
        groups: [...groups],
      };
    },
    loadExistingGrant: grantOfSession,
    renderError: (ctx, { error, error_description: description }) => {
      show(ctx, "Sign-in failed", `<p>${escapeHtml(error)}: ${escapeHtml(description ?? "")}</p>`);
    },
  };
}

/** Scopes of the tokens themselves, in addition to those for admin. */
const TOKEN_SCOPES = "openid offline_access profile email";

/** Grants all scopes to a client. @returns the grant, which is saved. */
export async function grantAll(
  provider: Provider,
  { known, clientId, accountId }: { readonly known: string | undefined; readonly clientId: string; readonly accountId: string },
) {
  const grant = (known === undefined ? undefined : await provider.Grant.find(known)) ?? new provider.Grant({ clientId, accountId });
  grant.addOIDCScope(`${TOKEN_SCOPES} ${SCOPES}`);
  grant.addResourceScope(provider.issuer, SCOPES);
  await grant.save();
  return grant;
}

async function grantOfSession({ oidc }: KoaContextWithOIDC) {
  const { client, session, provider } = oidc;
  if (client === undefined || session?.accountId === undefined) return undefined;
  const known = oidc.result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  return grantAll(provider, { known, clientId: client.clientId, accountId: session.accountId });
}

function show(ctx: KoaContextWithOIDC, title: string, body: string): void {
  ctx.set({ ...PAGE_HEADERS });
  ctx.body = page(title, body);
}

async function userCodeInputSource(ctx: KoaContextWithOIDC, form: string, _out: unknown, error: unknown): Promise<void> {
  const notice = error === undefined ? "Enter the code that your device shows." : "No device is waiting for this code. Enter it again.";
  show(ctx, "Sign in a device", `<p>${notice}</p>${form}<button type="submit" form="op.deviceInputForm">Go on</button>`);
}

async function userCodeConfirmSource(
  ctx: KoaContextWithOIDC,
  form: string,
  ...[client, , code]: [{ clientId: string }, unknown, string]
): Promise<void> {
  const question = `<p><strong>${escapeHtml(client.clientId)}</strong> on a device that shows <strong>${escapeHtml(code)}</strong> will act for you.</p>`;
  const no = `<button type="submit" form="op.deviceConfirmForm" value="yes" name="abort">No</button>`;
  show(ctx, "Is it your device?", `${question}${form}<button type="submit" form="op.deviceConfirmForm">Yes, sign it in</button>${no}`);
}

async function successSource(ctx: KoaContextWithOIDC): Promise<void> {
  show(ctx, "Done", "<p>The device is signed in. You can close this page.</p>");
}
