import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";
import { findGoProgram } from "../program/go-program.js";
import { appendOutputTo } from "./log-file.js";

/** Domain below which Services have names. */
export const CLUSTER_DOMAIN = "cluster.local";

export interface CoreDnsOptions {
  /** Address on which pods reach it, at the port of DNS. */
  readonly address: string;
  readonly kubeconfig: string;
  /** Folder of its configuration. */
  readonly stateDir: string;
  readonly logFile: string;
  readonly onProgress?: ((what: string) => void) | undefined;
  readonly watchdog?: ProcessWatchdog | undefined;
}

/** Starts CoreDNS as the cluster's DNS. It knows no names outside the cluster. */
export async function startCoreDns(options: CoreDnsOptions): Promise<LocalServer> {
  const { stateDir, onProgress, logFile, watchdog } = options;
  const command = await findGoProgram(
    { name: "coredns", version: "1.12.4", module: "coredns", mainPackage: ".", overrideVariable: "FLYTE_TS_COREDNS" },
    { onProgress },
  );
  mkdirSync(stateDir, { recursive: true });
  const port = await freePort();
  const file = join(stateDir, "Corefile");
  writeFileSync(file, configuration(options, port));
  return startServerProcess({
    name: "coredns",
    command,
    args: ["-conf", file],
    options: appendOutputTo(logFile),
    url: `http://127.0.0.1:${port}/ready`,
    port,
    stopSignal: "SIGTERM",
    watchdog,
    startTimeoutMs: 60_000,
  });
}

/** Nothing is cached: names of a job's pods are asked for before they exist. */
function configuration({ address, kubeconfig }: CoreDnsOptions, readyPort: number): string {
  return `.:53 {
  bind ${address}
  errors
  ready 127.0.0.1:${readyPort}
  kubernetes ${CLUSTER_DOMAIN} in-addr.arpa {
    kubeconfig ${kubeconfig}
  }
}
`;
}
