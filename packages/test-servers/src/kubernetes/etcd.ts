import { mkdirSync } from "node:fs";
import { freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { findGoProgram, type GoProgram } from "../program/go-program.js";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";

/** Same release line as the client in kube-apiserver. */
const ETCD: GoProgram = {
  name: "etcd",
  version: "3.6.4",
  module: "etcd",
  mainPackage: "go.etcd.io/etcd/server/v3",
  overrideVariable: "FLYTE_TS_ETCD",
};

export interface EtcdOptions {
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** False trades durability for speed: only for data that may be lost. Default true. */
  readonly durable?: boolean;
  /** Called before the program is built. */
  readonly onProgress?: (what: string) => void;
  /** Ends the server when this process exits. Default: it keeps running. */
  readonly watchdog?: ProcessWatchdog | undefined;
}

export function findEtcd(onProgress?: (what: string) => void): Promise<string> {
  return findGoProgram(ETCD, { onProgress });
}

/** Starts a single etcd on the loopback address. */
export async function startEtcd({ dataDir, port, durable = true, onProgress, watchdog }: EtcdOptions): Promise<LocalServer> {
  const command = await findEtcd(onProgress);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const clientPort = port ?? (await freePort());
  const url = `http://127.0.0.1:${clientPort}`;
  const peers = `http://127.0.0.1:${await freePort()}`;
  const args = [
    `--data-dir=${dataDir}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peers}`,
    // A single member finds itself by this name alone; the peer port may change between starts.
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=default=${peers}`,
    "--quota-backend-bytes=8589934592",
    "--log-level=error",
    ...(durable ? [] : ["--unsafe-no-fsync"]),
  ];
  return startServerProcess({
    name: "etcd",
    command,
    args,
    url,
    port: clientPort,
    stopSignal: "SIGTERM",
    watchdog,
    ready: async () => {
      const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) });
      return response.ok && ((await response.json()) as { health?: string }).health === "true";
    },
  });
}

/**
 * Compacts all revisions up to the current one, so that a watch from an older one gets 410.
 * Resolves to that revision.
 */
export async function compactEtcd(url: string): Promise<number> {
  const call = async (path: string, body: object) => {
    const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(30_000) });
    if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { header: { revision: string } };
  };
  const { revision } = (await call("/v3/maintenance/status", {})).header;
  await call("/v3/kv/compaction", { revision, physical: true });
  return Number(revision);
}
