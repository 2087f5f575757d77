import { SingleFlight } from "@flyte-ts/async";
import { Code, RpcError } from "@flyte-ts/rpc";
import { z } from "zod";
import { isWithinMs } from "../ttl-value.js";

export interface ClientTokenOptions {
  readonly clientId: string;
  /** Called for every token, so that the secret can be rotated. */
  readonly secret: () => Promise<string>;
  readonly tokenEndpoint: () => Promise<string>;
  readonly scopes?: readonly string[];
  readonly audience?: string | undefined;
  readonly clock: () => Date;
  readonly fetch?: typeof fetch;
}

const answerSchema = z.looseObject({ access_token: z.string().min(1), expires_in: z.number().positive().default(300) });
const TIMEOUT_MS = 10_000;

/**
 * Age from which a refused token is replaced, ms. An older token has been accepted before, so a new
 * one may be accepted. If a younger token is refused, a new one would not help.
 */
const MIN_TOKEN_AGE_MS = 10_000;

export interface ClientToken {
  /**
   * Returns the cached token until a fifth of its lifetime is left, then a new one.
   *
   * @throws RpcError UNAUTHENTICATED when client or secret are refused, UNAVAILABLE when the
   *   provider does not answer.
   */
  readonly current: () => Promise<string>;
  /**
   * Reports that a call with the token was refused, as after a revocation: the next call gets
   * another token.
   */
  readonly onRejected: () => void;
}

/** Access tokens of a service (client credentials, RFC 6749 §4.4). */
export function createClientToken(options: ClientTokenOptions): ClientToken {
  let held: { readonly token: string; readonly at: number; readonly forMs: number } | undefined;
  const requesting = new SingleFlight<string>();
  const { clock } = options;
  const send = async (): Promise<string> => {
    const at = clock().getTime();
    const { access_token: token, expires_in: seconds } = await request(options);
    held = { token, at, forMs: seconds * 800 };
    return token;
  };
  return {
    current: async () => (held !== undefined && isWithinMs(clock(), held.at, held.forMs) ? held.token : requesting.run("", send)),
    onRejected: () => {
      if (held !== undefined && !isWithinMs(clock(), held.at, MIN_TOKEN_AGE_MS)) held = undefined;
    },
  };
}

async function request({ clientId, secret, tokenEndpoint, scopes = [], audience, fetch: send = fetch }: ClientTokenOptions) {
  const body = new URLSearchParams({ grant_type: "client_credentials" });
  if (scopes.length > 0) body.set("scope", scopes.join(" "));
  if (audience !== undefined) body.set("audience", audience);
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent((await secret()).trim())}`).toString("base64");
  const endpoint = await tokenEndpoint();
  const response = await send(endpoint, {
    method: "POST",
    headers: { authorization: `Basic ${basic}`, accept: "application/json" },
    body,
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new RpcError(Code.UNAVAILABLE, `no token from ${endpoint}`, { cause });
  });
  if (response.status >= 500) throw new RpcError(Code.UNAVAILABLE, `no token from ${endpoint}: it answered ${response.status}`);
  if (!response.ok) throw new RpcError(Code.UNAUTHENTICATED, `${endpoint} refuses client ${JSON.stringify(clientId)} (${response.status})`);
  const answer = answerSchema.safeParse(await response.json().catch(() => undefined));
  if (!answer.success) throw new RpcError(Code.UNAVAILABLE, `the answer of ${endpoint} has no access_token`);
  return answer.data;
}
