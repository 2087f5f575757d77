import type { IncomingMessage, ServerResponse } from "node:http";
import { createLocalJwks, type Provider as TokenProvider, type ProviderMetadata } from "@flyte-ts/auth/tokens";
import type { Database } from "@flyte-ts/postgres";
import type { HttpRoute } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import type { Provider } from "oidc-provider";
import { createLoginRateLimiter, type LoginRateLimiter } from "./login-rate-limiter.js";
import { putPublicClient, seedServices } from "../store/issuer-clients.js";
import type { IssuerConfig } from "./config-schema.js";
import { type IssuerKeys, loadKeys, publicKey } from "../store/issuer-keys.js";
import { signInRoute } from "./sign-in.js";
import { createOidcProvider, ENDPOINTS, INTERACTION_PATH } from "./provider.js";
import { dropExpiredState } from "../store/issuer-state.js";
import { createPasswordCheck } from "./password-check.js";
import { createSourceOf, type SourceOf } from "./request-source.js";

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
  const prepare = (request: IncomingMessage) => setForwardedHeaders(request, issuer);
  const check = createPasswordCheck(db, clock);
  const serve: Handle = (request, response, { path }) => {
    // The library parses the target again, in another way: it gets the path that has been routed.
    const [, ...query] = (request.url ?? "").split("?");
    request.url = [path, ...query].join("?");
    prepare(request);
    void provider.callback()(request, response);
  };
  return {
    routes: [
      { path: INTERACTION_PATH, public: true, handle: signInRoute({ provider: () => provider, check, sourceOf, prepare }) },
      ...endpointRoutes(serve, limitLogins(serve, { sourceOf, limiter: createLoginRateLimiter(clock) })),
    ],
    metadata: async () => metadataOf(issuer),
    keys: createLocalJwks(async () => (await loadKeys(db, clock)).signing.map(publicKey), clock),
    close: async () => {
      clearInterval(timer);
      await refreshing;
    },
  };
}

type Handle = HttpRoute["handle"];

/**
 * Routes the endpoints by their exact paths. The library also serves other spellings of them, which
 * would begin logins uncounted.
 */
function endpointRoutes(serve: Handle, begin: Handle): HttpRoute[] {
  const { token, jwks, revocation, authorization, device_authorization: device, code_verification: verification } = ENDPOINTS;
  const resume: Handle = (request, response, context) => {
    if (/\/[\w-]+$/.test(context.path)) return serve(request, response, context);
    response.writeHead(404).end();
  };
  return [
    ...[token, jwks, revocation, "/.well-known/openid-configuration"].map((path) => ({ path, public: true, handle: serve })),
    ...[authorization, device, verification].map((path) => ({ path, public: true, handle: begin })),
    // Continues a login, named by the last part of the path.
    ...[authorization, verification].map((path) => ({ path: `${path}/`, public: true, handle: resume })),
  ];
}

function limitLogins(serve: Handle, { sourceOf, limiter }: { readonly sourceOf: SourceOf; readonly limiter: LoginRateLimiter }): Handle {
  return (request, response, context) => {
    const seconds = limiter(sourceOf(request));
    if (seconds !== undefined) return rejectTemporarily(response, seconds);
    return serve(request, response, context);
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
    authorization_endpoint: issuer + ENDPOINTS.authorization,
    token_endpoint: issuer + ENDPOINTS.token,
    device_authorization_endpoint: issuer + ENDPOINTS.device_authorization,
    jwks_uri: issuer + ENDPOINTS.jwks,
    response_types_supported: ["code"],
    scopes_supported: ["all", "offline"],
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "none"],
    code_challenge_methods_supported: ["S256"],
  };
}
