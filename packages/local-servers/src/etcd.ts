import { mkdirSync } from "node:fs";
import { freePort } from "./free-port.js";
import { findGoProgram, type GoProgram } from "./go-program.js";
import type { Guard } from "./guard.js";
import { type LocalServer, startServerProcess } from "./server-process.js";

/** Same release line as the client in kube-apiserver. */
const ETCD: GoProgram = {
  name: "etcd",
  version: "3.6.4",
  module: "etcd",
  package: "go.etcd.io/etcd/server/v3",
  variable: "FLYTE_TS_ETCD",
};

export interface EtcdOptions {
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** False trades durability for speed: only for data that may be lost. Default true. */
  readonly durable?: boolean;
  /** Called before the program is built. */
  readonly onBuild?: (what: string) => void;
  /** Ends the server when this process dies. Default: it keeps running. */
  readonly guard?: Guard | undefined;
}

export function findEtcd(onBuild?: (what: string) => void): Promise<string> {
  return findGoProgram(ETCD, { onBuild });
}

/** Starts a single etcd on the loopback address. */
export async function startEtcd({ dataDir, port, durable = true, onBuild, guard }: EtcdOptions): Promise<LocalServer> {
  const command = await findEtcd(onBuild);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const chosen = port ?? (await freePort());
  const url = `http://127.0.0.1:${chosen}`;
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
    port: chosen,
    stopSignal: "SIGTERM",
    guard,
    ready: async () => {
      const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) });
      return answer.ok && ((await answer.json()) as { health?: string }).health === "true";
    },
  });
}

/** Compacts all revisions up to the current one, so that a watch from an older one gets 410. Resolves to that revision. */
export async function compactEtcd(url: string): Promise<number> {
  const call = async (path: string, body: object) => {
    const answer = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(30_000) });
    if (!answer.ok) throw new Error(`etcd ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { header: { revision: string } };
  };
  const { revision } = (await call("/v3/maintenance/status", {})).header;
  await call("/v3/kv/compaction", { revision, physical: true });
  return Number(revision);
}
