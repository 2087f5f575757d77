import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { kubeconfigText, replaceFile } from "@flyte-ts/host";

export interface KubeconfigTarget {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
}

/**
 * Writes the kubeconfig. Over plain HTTP kubectl sends no bearer token, so the path of the server's
 * URL contains the token.
 */
export function writeKubeconfig(path: string, { host, port, token }: KubeconfigTarget): void {
  const address = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const server = `http://${address.includes(":") ? `[${address}]` : address}:${port}${token === undefined ? "" : `/${token}`}`;
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, kubeconfigText({ name: "flyte-ts-local", server, token }));
}
