import { createRestClient } from "@flyte-ts/client/browser";

/** Client of an OAuth server, which signs in for a program. */
export interface Credentials {
  readonly id: string;
  readonly secret: string;
}

interface Discovered {
  readonly tokenEndpoint?: string;
  readonly token_endpoint?: string;
}
interface ClientConfig {
  readonly scopes?: readonly string[];
  readonly audience?: string;
}
interface TokenAnswer {
  readonly access_token?: string;
  readonly expires_in?: number;
  readonly error?: string;
  readonly error_description?: string;
}

/** Time before its end at which a token is replaced, ms. */
const MARGIN_MS = 30_000;
/** Lifetime of a token that does not state one, s. */
const DEFAULT_LIFETIME_S = 300;

/** Returns a function that returns a valid token, and signs in when there is none. */
export function clientTokens(origin: string, credentials: Credentials): () => Promise<string> {
  let current: Promise<{ readonly token: string; readonly end: number }> | undefined;
  return async () => {
    const known = await current?.catch(() => undefined);
    if (known !== undefined && Date.now() < known.end) return known.token;
    current = signIn(origin, credentials);
    return (await current).token;
  };
}

async function signIn(origin: string, { id, secret }: Credentials) {
  const rest = createRestClient({ origin });
  const [server, config] = await Promise.all([
    rest.call<Discovered>("/.well-known/oauth-authorization-server"),
    rest.call<ClientConfig>("/config/v1/flyte_client"),
  ]);
  const endpoint = server.tokenEndpoint ?? server.token_endpoint;
  if (endpoint === undefined) throw new Error(`${origin} names no address that issues tokens`);
  const form = new URLSearchParams({ grant_type: "client_credentials", scope: (config.scopes ?? []).join(" ") });
  if (config.audience) form.set("audience", config.audience);
  const authorization = `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`;
  const response = await fetch(endpoint, { method: "POST", headers: { authorization }, body: form });
  const answer = (await response.json().catch(() => ({}))) as TokenAnswer;
  if (answer.access_token === undefined) {
    const reason = answer.error_description ?? answer.error ?? `status ${response.status}`;
    throw new Error(`the client ${id} cannot sign in at ${endpoint}: ${reason}`);
  }
  return { token: answer.access_token, end: Date.now() + (answer.expires_in ?? DEFAULT_LIFETIME_S) * 1000 - MARGIN_MS };
}
