import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Answer = Readonly<Record<string, unknown>>;

/** Stand-in of admin and its OAuth server. */
export interface StandIn {
  readonly origin: string;
  /** Errors with which the token endpoint answers first, in order. */
  readonly errors: string[];
  /** Forms that the token endpoint received, in order. */
  readonly forms: Record<string, string>[];
  /** Challenge of each code that the sign-in page issued. */
  readonly challenges: Map<string, string>;
  readonly close: () => void;
}

const TOKENS = { token_type: "Bearer", expires_in: 3_600 };

/** Starts a stand-in that issues `access-1`, `access-2` … and checks the verifiers of PKCE. */
export async function startStandIn(device: Answer = {}): Promise<StandIn> {
  const state = { errors: [] as string[], forms: [] as Record<string, string>[], challenges: new Map<string, string>() };
  let [origin, issued] = ["", 0];
  const answers: Record<string, (form: Record<string, string>) => Answer> = {
    "/.well-known/oauth-authorization-server": () => ({
      issuer: origin,
      tokenEndpoint: `${origin}/token`,
      authorization_endpoint: `${origin}/authorize`,
      deviceAuthorizationEndpoint: `${origin}/device`,
    }),
    "/config/v1/flyte_client": () => ({ clientId: "flytectl", redirectUri: "http://localhost:0/callback", scopes: ["all"] }),
    "/device": () => ({
      device_code: "device-1",
      user_code: "WDJB-MJHT",
      verification_uri: `${origin}/enter`,
      expires_in: 60,
      interval: 1,
      ...device,
    }),
    "/token": (form) => {
      state.forms.push(form);
      const error = state.errors.shift() ?? errorOf(form, state.challenges);
      if (error !== undefined) return { error };
      issued++;
      return { ...TOKENS, access_token: `access-${issued}`, refresh_token: `refresh-${issued}` };
    },
  };
  const server = createServer(async (request, response) => {
    const body = await new Response(ReadableStream.from(request)).text();
    const answer = answers[request.url ?? ""]?.(Object.fromEntries(new URLSearchParams(body))) ?? { error: "not_found" };
    response.writeHead(answer["error"] === undefined ? 200 : 400, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => listening.resolve());
  await listening.promise;
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, ...state, close: () => server.close() };
}

/** RFC 7636: the verifier's hash is the challenge of the code. */
function errorOf({ grant_type: grant, code = "", code_verifier: verifier = "" }: Record<string, string>, challenges: Map<string, string>) {
  if (grant !== "authorization_code") return undefined;
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  return challenges.get(code) === challenge ? undefined : "invalid_grant";
}
