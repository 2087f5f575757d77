import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { parse } from "yaml";

/** The content of a kubeconfig that needs no external program or provider. */
export interface PlainAccess {
  readonly server: string;
  readonly tls: ConnectionOptions;
  readonly token: string | undefined;
}

const CLUSTER_KEYS: ReadonlySet<string> = new Set(["server", "certificate-authority", "certificate-authority-data", "tls-server-name"]);
const USER_KEYS: ReadonlySet<string> = new Set(["token", "client-certificate", "client-certificate-data", "client-key", "client-key-data"]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a kubeconfig that holds certificates and tokens only. The official client reads all others (exec plugins, OIDC,
 * proxies …), and costs each process 60 MiB.
 *
 * @returns undefined when the context has a field that this function does not know.
 */
export function readPlainKubeconfig(file: string, context: string | undefined): PlainAccess | undefined {
  const root = fields(parse(readFileSync(file, "utf8")));
  const chosen = named(root["contexts"], context ?? root["current-context"], "context");
  const cluster = chosen && named(root["clusters"], chosen["cluster"], "cluster");
  const user = chosen && named(root["users"], chosen["user"], "user");
  if (cluster === undefined || user === undefined || !only(cluster, CLUSTER_KEYS) || !only(user, USER_KEYS)) return undefined;
  const { server, token } = { server: cluster["server"], token: user["token"] };
  if (typeof server !== "string") return undefined;
  const read = (from: Fields, key: string) => bytesOf(from, key, dirname(file));
  const parts = {
    ca: read(cluster, "certificate-authority"),
    cert: read(user, "client-certificate"),
    key: read(user, "client-key"),
    servername: text(cluster["tls-server-name"]),
  };
  return {
    server: server.replace(/\/$/, ""),
    tls: Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)),
    token: text(token),
  };
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The content of the list's item of that name. */
function named(list: unknown, name: unknown, content: string): Fields | undefined {
  const item = Array.isArray(list) ? list.map(fields).find((entry) => entry["name"] === name) : undefined;
  return item === undefined ? undefined : fields(item[content]);
}

function only(value: Fields, known: ReadonlySet<string>): boolean {
  return Object.keys(value).every((key) => known.has(key));
}

/** Reads bytes given inline, or in a file that the kubeconfig names. */
function bytesOf(from: Fields, key: string, folder: string): Buffer | undefined {
  const data = text(from[`${key}-data`]);
  if (data !== undefined) return Buffer.from(data, "base64");
  const path = text(from[key]);
  return path === undefined ? undefined : readFileSync(resolve(folder, path));
}
