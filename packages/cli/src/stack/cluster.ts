import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";
import type { StackCredentials } from "./credentials.js";

/** The Kubernetes API of a stack. */
export interface StackCluster {
  readonly kubeconfig: string;
  /** Address of the API. */
  readonly url: string;
  /** Address below which the API serves logs of pods to a browser. */
  readonly logUrl: string;
  /** Whether the stack runs it itself. */
  readonly own: boolean;
  /** Whether it has nodes; else this machine is made one. */
  readonly hasNodes: boolean;
}

/** The local cluster. Links to logs carry a token that opens logs alone. */
export function ownCluster(kubeconfig: string, port: number, { clusterLogToken }: StackCredentials): StackCluster {
  const url = `http://127.0.0.1:${port}`;
  return { kubeconfig, url, logUrl: `${url}/${clusterLogToken}`, own: true, hasNodes: false };
}

interface Kubeconfig {
  readonly "current-context"?: string;
  readonly contexts?: readonly { readonly name: string; readonly context: { readonly cluster: string } }[];
  readonly clusters?: readonly { readonly name: string; readonly cluster: { readonly server: string } }[];
}

/** @throws Error when the file is not there or its current context names no cluster */
export function givenCluster(file: string, hasNodes: boolean): StackCluster {
  const kubeconfig = resolve(file);
  if (!existsSync(kubeconfig)) throw new Error(`kubeconfig ${file}: there is no such file`);
  const config = parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const context = config.contexts?.find(({ name }) => name === config["current-context"])?.context;
  const server = config.clusters?.find(({ name }) => name === context?.cluster)?.cluster.server;
  if (server === undefined) throw new Error(`kubeconfig ${file}: the current context names no cluster`);
  const url = server.replace(/\/+$/, "");
  return { kubeconfig, url, logUrl: url, own: false, hasNodes };
}
