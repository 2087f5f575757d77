import type { DeviceCode } from "../sign-in/device-flow.js";
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
  /**
   * Shows the code by which a person signs in elsewhere (OAuth's device flow), when no one is
   * signed in; default: `flyte-ts login` has to be run before.
   */
  readonly onDeviceCode?: (code: DeviceCode) => void;
}

/** Settings with their defaults. */
export interface ResolvedSettings {
  /** URL of the API, without a path. */
  readonly origin: string;
  readonly token: ConnectionSettings["token"];
  readonly client: Credentials | undefined;
  /** Command that prints a token. */
  readonly command: readonly string[] | undefined;
  /** Signs a person in; undefined: only `flyte-ts login` does. */
  readonly onDeviceCode: ConnectionSettings["onDeviceCode"];
  /** True when the configuration asks for a person who signs in. */
  readonly needsPerson: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;
/** Values below `admin:` of flytectl's configuration. */
export type AdminSection = Readonly<Record<string, string | readonly string[]>>;

const SANDBOX = "localhost:30080";
const THIS_MACHINE = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|$)/;

/** Resolves settings: given ones, then the environment, then flytectl's file, then the sandbox. */
export async function resolveSettings(
  given: ConnectionSettings,
  environment: Environment,
  readSection: () => Promise<AdminSection>,
): Promise<ResolvedSettings> {
  const fromEnvironment = environment["FLYTE_PLATFORM_URL"];
  const named = given.endpoint ?? (fromEnvironment || undefined);
  const file = named === undefined || given.token === undefined ? await readSection() : {};
  const section = named === undefined || isSameApi(file, named) ? file : {};
  const endpoint = named ?? (textOf(section, "endpoint") || SANDBOX);
  const insecure = given.insecure ?? flag(environment["FLYTE_PLATFORM_INSECURE"]) ?? flag(textOf(section, "insecure"));
  const authType = (environment["FLYTE_CREDENTIALS_AUTH_MODE"] || textOf(section, "authType")).toLowerCase();
  return {
    origin: originOf(endpoint, insecure),
    token: given.token ?? (environment["FLYTE_TS_TOKEN"] || undefined),
    client: given.client ?? (PERSONS.has(authType) ? undefined : await clientIn(environment, section)),
    command: COMMANDS.has(authType) ? commandIn(section) : undefined,
    onDeviceCode: given.onDeviceCode,
    needsPerson: PERSONS.has(authType),
  };
}

/** True when the file is about this API: its credentials are for no other. */
function isSameApi(section: AdminSection, endpoint: string): boolean {
  const own = textOf(section, "endpoint");
  return own !== "" && hostOf(own) === hostOf(endpoint);
}

const hostOf = (endpoint: string): string => new URL(originOf(endpoint, false)).host;

/** Values of `authType` by which a person signs in, and those of a command, in lower case. */
const PERSONS = new Set(["pkce", "deviceflow"]);
const COMMANDS = new Set(["externalcommand", "external_process"]);

function textOf(section: AdminSection, key: string): string {
  const value = section[key];
  return typeof value === "string" ? value : "";
}

/** Returns the command of `admin.command`, in whole words. */
function commandIn(section: AdminSection): readonly string[] {
  const { command = [] } = section;
  if (typeof command === "string" || command.length === 0)
    throw new TypeError("authType is ExternalCommand: admin.command must list a program and its arguments");
  return command;
}

const flag = (text: string | undefined): boolean | undefined => (text === undefined || text === "" ? undefined : text === "true");

/** Returns the URL of an address: `dns:///host:port`, a URL, or host and port. */
export function originOf(endpoint: string, insecure: boolean | undefined): string {
  const address = endpoint.replace(/^dns:\/\/\//, "").replace(/\/+$/, "");
  if (/^https?:\/\//.test(address)) return new URL(address).origin;
  return new URL(`${(insecure ?? THIS_MACHINE.test(address)) ? "http" : "https"}://${address}`).origin;
}

async function clientIn(environment: Environment, section: AdminSection): Promise<Credentials | undefined> {
  const id = environment["FLYTE_CREDENTIALS_CLIENT_ID"] || textOf(section, "clientId");
  if (!id) return undefined;
  const variable = environment["FLYTE_CREDENTIALS_CLIENT_SECRET_ENV_VAR"] || textOf(section, "clientSecretEnvVar");
  const secret = environment["FLYTE_CREDENTIALS_CLIENT_SECRET"] || (variable && environment[variable]);
  if (secret) return { id, secret };
  const file = environment["FLYTE_CREDENTIALS_CLIENT_SECRET_LOCATION"] || textOf(section, "clientSecretLocation");
  if (!file) return undefined;
  const { readFile } = await import("node:fs/promises");
  return { id, secret: (await readFile(file, "utf8")).trim() };
}
