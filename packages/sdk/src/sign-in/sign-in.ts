import { type DeviceCode, deviceFlow } from "./device-flow.js";
import { discoverServer, type OAuthServer } from "./oauth-server.js";
import { pkceFlow } from "./pkce-flow.js";
import { requestToken, SignInError, type Tokens } from "./request-token.js";
import { TokenCache, tokenFile } from "./token-cache.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** Way in which a person signs in. */
export type SignInWay =
  | { readonly kind: "browser"; readonly open: (url: string) => void; readonly timeoutMs?: number }
  | { readonly kind: "device"; readonly show: (code: DeviceCode) => void };

/** Signs a person in at the API's OAuth server, and keeps the tokens. @throws SignInError */
export async function signIn(origin: string, way: SignInWay, environment: Environment): Promise<void> {
  const server = await discoverServer(origin);
  const tokens = await (way.kind === "device" ? deviceFlow(server, way) : pkceFlow(server, way));
  await new TokenCache(tokenFile(environment)).change(origin, async () => tokens);
}

/** Forgets the tokens for an API. */
export async function signOut(origin: string, environment: Environment): Promise<void> {
  await new TokenCache(tokenFile(environment)).change(origin, async () => undefined);
}

export interface PersonOptions {
  readonly environment: Environment;
  /** Shows a code when the person has to sign in; default: sign-in is an error. */
  readonly onDeviceCode?: ((code: DeviceCode) => void) | undefined;
  /** False: calls carry no token when there is none. */
  readonly isRequired: boolean;
}

/**
 * Returns a function that returns the token of the person who is signed in, and refreshes it.
 * Undefined without a person.
 */
export function personTokens(origin: string, options: PersonOptions): () => Promise<string | undefined> {
  const cache = new TokenCache(tokenFile(options.environment));
  let current: Tokens | undefined;
  let pending: Promise<Tokens | undefined> | undefined;
  return async () => {
    if (current !== undefined && Date.now() < current.end) return current.accessToken;
    pending ??= validTokens(origin, cache, options).finally(() => (pending = undefined));
    current = await pending;
    return current?.accessToken;
  };
}

async function validTokens(origin: string, cache: TokenCache, { onDeviceCode, isRequired }: PersonOptions): Promise<Tokens | undefined> {
  const known = await cache.read(origin);
  if (known !== undefined && Date.now() < known.end) return known;
  if (known?.refreshToken !== undefined) {
    const server = await discoverServer(origin);
    const refreshed = await cache.change(origin, (tokens) => refresh(server, tokens));
    if (refreshed !== undefined) return refreshed;
  }
  if (onDeviceCode !== undefined) {
    const tokens = await deviceFlow(await discoverServer(origin), { show: onDeviceCode });
    return cache.change(origin, async () => tokens);
  }
  if (known === undefined && !isRequired) return undefined;
  const what = known === undefined ? "no one is signed in" : "the sign-in has ended";
  throw new SignInError("not_signed_in", `${what} at ${origin}: flyte-ts login --endpoint ${origin}`);
}

/** Returns fresh tokens; undefined when the server no longer accepts the refresh token. */
async function refresh({ tokenEndpoint, clientId }: OAuthServer, tokens: Tokens | undefined): Promise<Tokens | undefined> {
  // Another process may have refreshed them meanwhile.
  if (tokens === undefined || Date.now() < tokens.end) return tokens;
  const { refreshToken } = tokens;
  if (refreshToken === undefined) return undefined;
  try {
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId };
    return { refreshToken, ...(await requestToken(tokenEndpoint, form)) };
  } catch (error) {
    if (error instanceof SignInError && error.code === "invalid_grant") return undefined;
    throw error;
  }
}
