import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";
import type { StackCredentials } from "../state/credentials.js";
import { StackError } from "../stack-error.js";

/** The Kubernetes API of a stack. */
export interface StackCluster {
  readonly kubeconfig: string;
  /** Address of the API. */
  readonly url: string;
  /** Base address of pods' logs at the API, for a browser. */
  readonly logUrl: string;
  /** True when the stack runs it itself. */
  readonly managed: boolean;
  /** False when this machine is to become its node. */
  readonly hasNodes: boolean;
}

/** The local cluster. Links to logs carry a token that grants access to logs only. */
export function localCluster(kubeconfig: string, port: number, { clusterLogToken }: StackCredentials): StackCluster {
  const url = `http://127.0.0.1:${port}`;
  return { kubeconfig, url, logUrl: `${url}/${clusterLogToken}`, managed: true, hasNodes: false };
}

interface Kubeconfig {
  readonly "current-context"?: string;
  readonly contexts?: readonly { readonly name: string; readonly context: { readonly cluster: string } }[];
  readonly clusters?: readonly { readonly name: string; readonly cluster: { readonly server: string } }[];
}

/** @throws StackError when the file cannot be read or its current context names no cluster */
export function externalCluster(file: string, hasNodes: boolean): StackCluster {
  const kubeconfig = resolve(file);
  const config = readKubeconfig(kubeconfig);
  const context = config?.contexts?.find(({ name }) => name === config["current-context"])?.context;
  const server = config?.clusters?.find(({ name }) => name === context?.cluster)?.cluster.server;
  if (server === undefined)
    throw new StackError(`kubeconfig ${kubeconfig}: its current context names no cluster; name another with --kubeconfig`);
  const url = server.replace(/\/+$/, "");
  return { kubeconfig, url, logUrl: url, managed: false, hasNodes };
}

/** Undefined: the file is empty. */
function readKubeconfig(file: string): Kubeconfig | undefined {
  try {
    return (parse(readFileSync(file, "utf8")) as Kubeconfig | null) ?? undefined;
  } catch (cause) {
    const { message } = cause as Error;
    throw new StackError(`kubeconfig ${file} cannot be read (${message.split("\n")[0]}): name another with --kubeconfig`, { cause });
  }
}
