import { join } from "node:path";
import { freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { findKubernetesProgram } from "./kubernetes-program.js";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";

/**
 * Controllers that the services rely on: they delete the dependents of deleted owners and
 * namespaces, and count quotas.
 */
const DEFAULT_CONTROLLERS = [
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "resourcequota-controller",
];

export interface ControllerManagerOptions {
  readonly kubeconfig: string;
  /** Folder of the API server: it holds the key that signs service accounts' tokens. */
  readonly dataDir: string;
  /** Default: those that the services rely on without nodes. */
  readonly controllers?: readonly string[];
  /** Controllers beside them. Default: none. */
  readonly moreControllers?: readonly string[];
  /** Further flags. */
  readonly args?: readonly string[];
  readonly onProgress?: (what: string) => void;
  /** Ends the server when this process exits. Default: it keeps running. */
  readonly watchdog?: ProcessWatchdog | undefined;
}

export function findControllerManager(onProgress?: (what: string) => void): Promise<string> {
  return findKubernetesProgram("kube-controller-manager", onProgress);
}

export async function startControllerManager(options: ControllerManagerOptions): Promise<LocalServer> {
  const { kubeconfig, dataDir, controllers = DEFAULT_CONTROLLERS, moreControllers = [], args = [], onProgress, watchdog } = options;
  const command = await findControllerManager(onProgress);
  const port = await freePort();
  return startServerProcess({
    name: "kube-controller-manager",
    command,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--controllers=${[...controllers, ...moreControllers].join(",")}`,
      `--service-account-private-key-file=${join(dataDir, "service-accounts.key")}`,
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${join(dataDir, "controllers")}`,
      ...args,
    ],
    url: `https://127.0.0.1:${port}`,
    port,
    stopSignal: "SIGTERM",
    watchdog,
    startTimeoutMs: 60_000,
  });
}
