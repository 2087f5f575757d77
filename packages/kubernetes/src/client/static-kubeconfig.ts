import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { parse } from "yaml";

/** The content of a kubeconfig that needs no external program or provider. */
export interface StaticAccess {
  readonly server: string;
  readonly tls: ConnectionOptions;
  readonly token: string | undefined;
  /** Path of a file with the token, which another program renews; it precedes `token`. */
  readonly tokenFile: string | undefined;
}

const CLUSTER_KEYS: ReadonlySet<string> = new Set(["server", "certificate-authority", "certificate-authority-data", "tls-server-name"]);
const USER_KEYS: ReadonlySet<string> = new Set([
  "token",
  "tokenFile",
  "client-certificate",
  "client-certificate-data",
  "client-key",
  "client-key-data",
]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a kubeconfig that holds certificates and tokens only. The official client reads all others
 * (exec plugins, OIDC, proxies …), and costs each process 60 MiB.
 *
 * @returns undefined when the context has a field that this function does not know.
 */
export function readStaticKubeconfig(file: string, context: string | undefined): StaticAccess | undefined {
  const root = toFields(parse(readFileSync(file, "utf8")));
  const contextEntry = entryNamed(root["contexts"], context ?? root["current-context"], "context");
  const cluster = contextEntry && entryNamed(root["clusters"], contextEntry["cluster"], "cluster");
  const user = contextEntry && entryNamed(root["users"], contextEntry["user"], "user");
  if (cluster === undefined || user === undefined || !hasOnlyKeys(cluster, CLUSTER_KEYS) || !hasOnlyKeys(user, USER_KEYS)) return undefined;
  const { server, token } = { server: cluster["server"], token: user["token"] };
  const tokenFile = nonEmptyString(user["tokenFile"]);
  if (typeof server !== "string") return undefined;
  const read = (entry: Fields, key: string) => readBytes(entry, key, dirname(file));
  const parts = {
    ca: read(cluster, "certificate-authority"),
    cert: read(user, "client-certificate"),
    key: read(user, "client-key"),
    servername: nonEmptyString(cluster["tls-server-name"]),
  };
  return {
    server: server.replace(/\/$/, ""),
    tls: Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)),
    token: nonEmptyString(token),
    tokenFile: tokenFile && resolve(dirname(file), tokenFile),
  };
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function nonEmptyString(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The content of the list's item of that name. */
function entryNamed(list: unknown, name: unknown, content: string): Fields | undefined {
  const item = Array.isArray(list) ? list.map(toFields).find((entry) => entry["name"] === name) : undefined;
  return item === undefined ? undefined : toFields(item[content]);
}

function hasOnlyKeys(value: Fields, known: ReadonlySet<string>): boolean {
  return Object.keys(value).every((key) => known.has(key));
}

/** Reads bytes given inline, or in a file that the kubeconfig names. */
function readBytes(entry: Fields, key: string, directory: string): Buffer | undefined {
  const data = nonEmptyString(entry[`${key}-data`]);
  if (data !== undefined) return Buffer.from(data, "base64");
  const path = nonEmptyString(entry[key]);
  return path === undefined ? undefined : readFileSync(resolve(directory, path));
}
