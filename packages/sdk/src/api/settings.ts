import type { Credentials } from "./credentials.js";

/** Address and credentials of a Flyte control plane. Defaults come from the environment. */
export interface ConnectionSettings {
  /**
   * Address of the API, such as `flyte.example.org` or `http://localhost:30080`. Default:
   * FLYTE_PLATFORM_URL, then `admin.endpoint` of ~/.flyte/config.yaml, then localhost:30080.
   */
  readonly endpoint?: string;
  /** HTTP without TLS; default: only for this machine. A scheme in `endpoint` decides first. */
  readonly insecure?: boolean;
  /** Bearer token, or a function that returns one for each call; default: FLYTE_TS_TOKEN. */
  readonly token?: string | (() => string | Promise<string>);
  /** Client of an OAuth server; default: FLYTE_CREDENTIALS_CLIENT_ID and …_CLIENT_SECRET. */
  readonly client?: Credentials;
}

/** Settings with their defaults. */
export interface ResolvedSettings {
  /** URL of the API, without a path. */
  readonly origin: string;
  readonly token: ConnectionSettings["token"];
  readonly client: Credentials | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;
/** Keys below `admin:` of flytectl's configuration. */
export type AdminSection = Readonly<Record<string, string>>;

const SANDBOX = "localhost:30080";
const THIS_MACHINE = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|$)/;

/** Resolves settings: given ones, then the environment, then flytectl's file, then the sandbox. */
export async function resolveSettings(
  given: ConnectionSettings,
  environment: Environment,
  readSection: () => Promise<AdminSection>,
): Promise<ResolvedSettings> {
  const fromEnvironment = environment["FLYTE_PLATFORM_URL"];
  const section = given.endpoint === undefined && !fromEnvironment ? await readSection() : {};
  const endpoint = given.endpoint ?? (fromEnvironment || section["endpoint"] || SANDBOX);
  const insecure = given.insecure ?? flag(environment["FLYTE_PLATFORM_INSECURE"]) ?? flag(section["insecure"]);
  return {
    origin: originOf(endpoint, insecure),
    token: given.token ?? (environment["FLYTE_TS_TOKEN"] || undefined),
    client: given.client ?? (await clientIn(environment, section)),
  };
}

const flag = (text: string | undefined): boolean | undefined => (text === undefined || text === "" ? undefined : text === "true");

/** Returns the URL of an address: `dns:///host:port`, a URL, or host and port. */
export function originOf(endpoint: string, insecure: boolean | undefined): string {
  const address = endpoint.replace(/^dns:\/\/\//, "").replace(/\/+$/, "");
  if (/^https?:\/\//.test(address)) return new URL(address).origin;
  return new URL(`${(insecure ?? THIS_MACHINE.test(address)) ? "http" : "https"}://${address}`).origin;
}

async function clientIn(environment: Environment, section: AdminSection): Promise<Credentials | undefined> {
  const id = environment["FLYTE_CREDENTIALS_CLIENT_ID"] || section["clientId"];
  if (!id) return undefined;
  const variable = environment["FLYTE_CREDENTIALS_CLIENT_SECRET_ENV_VAR"] || section["clientSecretEnvVar"];
  const secret = environment["FLYTE_CREDENTIALS_CLIENT_SECRET"] || (variable && environment[variable]);
  if (secret) return { id, secret };
  const file = environment["FLYTE_CREDENTIALS_CLIENT_SECRET_LOCATION"] || section["clientSecretLocation"];
  if (!file) return undefined;
  const { readFile } = await import("node:fs/promises");
  return { id, secret: (await readFile(file, "utf8")).trim() };
}
