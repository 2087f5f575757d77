import { createHash, randomBytes } from "node:crypto";
import { listenForReturn } from "./loopback.js";
import type { OAuthServer } from "./oauth-server.js";
import { requestToken, SignInError, type Tokens } from "./request-token.js";

export interface PkceOptions {
  /** Shows the address of the sign-in page, and opens it. */
  readonly open: (url: string) => void;
  /** Time for the whole sign-in, ms; default: 5 minutes. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 300_000;
const VERIFIER_BYTES = 48;
const STATE_BYTES = 32;

/** Signs in by RFC 7636: opens the sign-in page, and waits for its return to this machine. */
export async function pkceFlow(server: OAuthServer, { open, timeoutMs = DEFAULT_TIMEOUT_MS }: PkceOptions): Promise<Tokens> {
  if (server.authorizationEndpoint === undefined) throw new SignInError("no_server", "the server has no sign-in page");
  const verifier = randomBytes(VERIFIER_BYTES).toString("base64url");
  const state = randomBytes(STATE_BYTES).toString("base64url");
  const loopback = await listenForReturn(server.redirectUri, state);
  const timeUp = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => timeUp.reject(new SignInError("timeout", `the browser did not return within ${timeoutMs / 1_000} s; sign in again`)),
    timeoutMs,
  );
  try {
    open(signInPage(server.authorizationEndpoint, { server, state, verifier, redirectUri: loopback.redirectUri }));
    const code = await Promise.race([loopback.code, timeUp.promise]);
    return await requestToken(server.tokenEndpoint, {
      grant_type: "authorization_code",
      code,
      redirect_uri: loopback.redirectUri,
      client_id: server.clientId,
      code_verifier: verifier,
    });
  } finally {
    clearTimeout(timer);
    loopback.close();
  }
}

interface Begun {
  readonly server: OAuthServer;
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

function signInPage(endpoint: string, { server, state, verifier, redirectUri }: Begun): string {
  const url = new URL(endpoint);
  const parameters = {
    response_type: "code",
    client_id: server.clientId,
    redirect_uri: redirectUri,
    scope: server.scopes.join(" "),
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...(server.audience !== "" && { audience: server.audience }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}
