import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { stringify } from "yaml";

export interface KubeconfigTarget {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
}

/**
 * Writes the file that kubectl and the services read. Over plain HTTP kubectl
 * sends no bearer token, so the token is part of the server's path.
 */
export function writeKubeconfig(path: string, { host, port, token }: KubeconfigTarget): void {
  const address = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const server = `http://${address.includes(":") ? `[${address}]` : address}:${port}${token === undefined ? "" : `/${token}`}`;
  const name = "flyte-ts-local";
  const content = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: token === undefined ? {} : { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.partial`, stringify(content), { mode: 0o600 });
  renameSync(`${path}.partial`, path);
}
