import { createRestClient, RestError } from "@flyte-ts/client/browser";
import { SignInError } from "./request-token.js";

/** OAuth server of a Flyte control plane, and its client for people, as admin announces them. */
export interface OAuthServer {
  readonly tokenEndpoint: string;
  /** Page for sign-in in a browser; absent when the server has none. */
  readonly authorizationEndpoint: string | undefined;
  /** Endpoint of the device flow, RFC 8628; absent when the server has none. */
  readonly deviceEndpoint: string | undefined;
  readonly clientId: string;
  /** Address of this machine to which the browser returns. */
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly audience: string;
}

/** Code of gRPC of an admin without authentication. */
const UNIMPLEMENTED = 12;

/** Answer of JSON whose names are in camel case, or in snake case from Flyte in Go. */
type Named = Readonly<Record<string, unknown>>;

/** Asks admin for its OAuth server. @throws RestError when it cannot be reached */
export async function discoverServer(origin: string): Promise<OAuthServer> {
  const rest = createRestClient({ origin });
  const [server, client] = await Promise.all([
    rest.call<Named>("/.well-known/oauth-authorization-server"),
    rest.call<Named>("/config/v1/flyte_client"),
  ]).catch((cause: unknown) => {
    if (!(cause instanceof RestError) || cause.code !== UNIMPLEMENTED) throw cause;
    throw new SignInError("no_server", `${origin} has no OAuth server: its calls need no sign-in`, { cause });
  });
  const tokenEndpoint = endpointOf(server, "token_endpoint");
  if (tokenEndpoint === undefined) throw new SignInError("no_server", `${origin} names no address that issues tokens`);
  return {
    tokenEndpoint,
    authorizationEndpoint: endpointOf(server, "authorization_endpoint"),
    deviceEndpoint: endpointOf(server, "device_authorization_endpoint"),
    clientId: textOf(client, "client_id"),
    redirectUri: textOf(client, "redirect_uri"),
    scopes: listOf(client, "scopes"),
    audience: textOf(client, "audience"),
  };
}

const valueOf = (answer: Named, name: string): unknown =>
  answer[name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())] ?? answer[name];

function textOf(answer: Named, name: string): string {
  const value = valueOf(answer, name);
  return typeof value === "string" ? value : "";
}

function listOf(answer: Named, name: string): readonly string[] {
  const value = valueOf(answer, name);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Returns an address of the web; undefined without one. Browsers open these addresses. */
function endpointOf(answer: Named, name: string): string | undefined {
  const text = textOf(answer, name);
  if (text === "") return undefined;
  if (!isWebAddress(text)) throw new SignInError("no_server", `the server's ${name} is no http address: ${JSON.stringify(text)}`);
  return text;
}

/** True for an address that begins with http or https. */
export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
