import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";
import { findKubernetesProgram } from "../kubernetes/kubernetes-program.js";
import { appendOutputTo } from "./log-file.js";
import { runCommand } from "./run-command.js";

export interface KubeProxyOptions {
  /** Name of the node. */
  readonly node: string;
  readonly kubeconfig: string;
  /** Addresses of pods, in CIDR notation. */
  readonly podAddresses: string;
  /** Folder of its configuration. */
  readonly stateDir: string;
  readonly logFile: string;
  readonly onProgress?: ((what: string) => void) | undefined;
  readonly watchdog?: ProcessWatchdog | undefined;
}

/**
 * Starts kube-proxy, which routes the addresses of Services to pods by rules of iptables. Its stop
 * removes the rules.
 */
export async function startKubeProxy(options: KubeProxyOptions): Promise<LocalServer> {
  const { stateDir, logFile, watchdog } = options;
  const command = await findKubernetesProgram("kube-proxy", options.onProgress);
  mkdirSync(stateDir, { recursive: true });
  const port = await freePort();
  const file = join(stateDir, "kube-proxy.json");
  writeFileSync(file, JSON.stringify(configuration(options, { health: port, metrics: await freePort() }), null, 2));
  const server = await startServerProcess({
    name: "kube-proxy",
    command,
    args: [`--config=${file}`],
    options: appendOutputTo(logFile),
    url: `http://127.0.0.1:${port}`,
    port,
    stopSignal: "SIGTERM",
    watchdog,
    startTimeoutMs: 60_000,
  });
  const stop = async () => {
    await server.stop();
    await runCommand(command, ["--cleanup"]);
  };
  return { ...server, stop };
}

function configuration({ node, kubeconfig, podAddresses }: KubeProxyOptions, ports: { health: number; metrics: number }): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    clientConnection: { kubeconfig },
    hostnameOverride: node,
    healthzBindAddress: `127.0.0.1:${ports.health}`,
    metricsBindAddress: `127.0.0.1:${ports.metrics}`,
    mode: "iptables",
    clusterCIDR: podAddresses,
    nodePortAddresses: [podAddresses],
    // Answers of a pod on the same bridge would bypass the rules that translate their addresses.
    iptables: { masqueradeAll: true },
    // Leaves the machine's limits of tracked connections alone.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  };
}
