import type { IncomingMessage, ServerResponse } from "node:http";
import { createLocalJwks, type Provider as TokenProvider, type ProviderMetadata } from "@flyte-ts/auth/tokens";
import type { Database } from "@flyte-ts/postgres";
import type { HttpRoute } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import type { Provider } from "oidc-provider";
import { createLoginRateLimiter } from "./login-rate-limiter.js";
import { putPublicClient, seedServices } from "../store/issuer-clients.js";
import type { IssuerConfig } from "./config-schema.js";
import { type IssuerKeys, loadKeys, publicKey } from "../store/issuer-keys.js";
import { signInRoute } from "./sign-in.js";
import { createOidcProvider } from "./provider.js";
import { dropExpiredState } from "../store/issuer-state.js";
import { createPasswordCheck } from "./password-check.js";
import { createSourceOf } from "./request-source.js";

export interface BuiltInIssuer extends TokenProvider {
  readonly routes: readonly HttpRoute[];
  readonly close: () => Promise<void>;
}

export interface IssuerDeps {
  readonly db: Database;
  readonly clock: () => Date;
  readonly logger: Logger;
  readonly config: IssuerConfig;
  readonly publicUrl: string;
  readonly publicClient: { readonly clientId: string; readonly redirectUri: string };
}

/**
 * Refresh interval of the keys, ms. Tokens signed with a key that another replica added are
 * accepted even before the refresh.
 */
const REFRESH_MS = 60_000;
/** Redirect URIs of flytectl and older clients. */
const FLYTECTL_REDIRECTS = ["http://localhost:53593/callback", "http://localhost:12345/callback"];

/**
 * Starts the built-in issuer. Its keys, users, clients and state are in PostgreSQL, so that any
 * replica serves any request.
 */
export async function startIssuer(deps: IssuerDeps): Promise<BuiltInIssuer> {
  const { db, clock, logger, config, publicUrl: issuer } = deps;
  const { clientId, redirectUri } = deps.publicClient;
  await putPublicClient(db, { clientId, redirectUris: [...new Set([redirectUri, ...FLYTECTL_REDIRECTS])] }, clock);
  await putPublicClient(db, { clientId: BROWSER_CLIENT, redirectUris: [`${issuer}/callback`] }, clock);
  await seedServices(db, { services: config.services, secretsFolder: config.secretsFolder, clock });

  const construct = (keys: IssuerKeys): Promise<Provider> =>
    createOidcProvider({
      issuer,
      keys,
      db,
      clock,
      logger,
      accessTokenSeconds: config.accessTokenSeconds,
      refreshTokenSeconds: config.refreshTokenSeconds,
    });
  let keys = await loadKeys(db, clock);
  let provider = await construct(keys);
  const refresh = async (): Promise<void> => {
    const found = await loadKeys(db, clock);
    const changed = JSON.stringify(found) !== JSON.stringify(keys);
    if (changed) [keys, provider] = [found, await construct(found)];
    await dropExpiredState(db, clock());
  };
  let refreshing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    refreshing = refresh().catch((error: unknown) => logger.warn({ err: error }, "the issuer's keys could not be reloaded"));
  }, REFRESH_MS);
  timer.unref();

  const sourceOf = createSourceOf(config.trustedProxies);
  const rateLimiter = createLoginRateLimiter(clock);
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    const seconds = rateLimiter(request, sourceOf(request));
    if (seconds !== undefined) return rejectTemporarily(response, seconds);
    setForwardedHeaders(request, issuer);
    void provider.callback()(request, response);
  };
  const check = createPasswordCheck(db, clock);
  return {
    routes: [
      {
        path: "/oauth2/interaction/",
        public: true,
        handle: signInRoute({ provider: () => provider, check, sourceOf, prepare: (request) => setForwardedHeaders(request, issuer) }),
      },
      { path: "/oauth2/", public: true, handle: pass },
      { path: "/.well-known/openid-configuration", public: true, handle: pass },
    ],
    metadata: async () => metadataOf(issuer),
    keys: createLocalJwks(async () => (await loadKeys(db, clock)).signing.map(publicKey), clock),
    close: async () => {
      clearInterval(timer);
      await refreshing;
    },
  };
}

/** Client with which admin logs browsers in. */
export const BROWSER_CLIENT = "flyteconsole";

/**
 * Sends the error `temporarily_unavailable` of RFC 6749, section 4.1.2.1, with the time until the
 * next attempt.
 */
function rejectTemporarily(response: ServerResponse, seconds: number): void {
  response.writeHead(429, { "retry-after": String(seconds), "content-type": "application/json" });
  const description = `too many sign-ins were started from this address; try again in ${seconds} s`;
  response.end(JSON.stringify({ error: "temporarily_unavailable", error_description: description }));
}

/** Sets the issuer's URL from the configuration, ignoring the request and proxies. */
function setForwardedHeaders({ headers }: IncomingMessage, issuer: string): void {
  const { host, protocol } = new URL(issuer);
  headers.host = host;
  headers["x-forwarded-proto"] = protocol.replace(":", "");
  delete headers["x-forwarded-host"];
}

function metadataOf(issuer: string): ProviderMetadata {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth2/authorize`,
    token_endpoint: `${issuer}/oauth2/token`,
    device_authorization_endpoint: `${issuer}/oauth2/device_authorization`,
    jwks_uri: `${issuer}/oauth2/jwks`,
    response_types_supported: ["code"],
    scopes_supported: ["all", "offline"],
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "none"],
    code_challenge_methods_supported: ["S256"],
  };
}
