import { discoverServer } from "../sign-in/oauth-server.js";
import { requestToken, SignInError, type Tokens } from "../sign-in/request-token.js";

/** Client of an OAuth server, which signs in for a program. */
export interface Credentials {
  readonly id: string;
  readonly secret: string;
}

/** Returns a function that returns a valid token, and signs in when there is none. */
export function clientTokens(origin: string, credentials: Credentials): () => Promise<string> {
  let current: Promise<Tokens> | undefined;
  return async () => {
    const known = await current?.catch(() => undefined);
    if (known !== undefined && Date.now() < known.end) return known.accessToken;
    current = signIn(origin, credentials);
    return (await current).accessToken;
  };
}

async function signIn(origin: string, { id, secret }: Credentials): Promise<Tokens> {
  const { tokenEndpoint, scopes, audience } = await discoverServer(origin);
  const form = { grant_type: "client_credentials", scope: scopes.join(" "), ...(audience !== "" && { audience }) };
  const authorization = `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`;
  return requestToken(tokenEndpoint, form, { authorization }).catch((cause: Error) => {
    throw new SignInError(codeOf(cause), `the client ${id} cannot sign in at ${tokenEndpoint}: ${cause.message}`, { cause });
  });
}

const codeOf = (error: Error): string => (error instanceof SignInError ? error.code : "");
