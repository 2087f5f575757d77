import { freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { findKubernetesProgram } from "../kubernetes/kubernetes-program.js";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";

export interface SchedulerOptions {
  readonly kubeconfig: string;
  /** Folder for its own certificate. */
  readonly certificateDir: string;
  readonly onProgress?: ((what: string) => void) | undefined;
  readonly watchdog?: ProcessWatchdog | undefined;
}

export async function startScheduler({ kubeconfig, certificateDir, onProgress, watchdog }: SchedulerOptions): Promise<LocalServer> {
  const command = await findKubernetesProgram("kube-scheduler", onProgress);
  const port = await freePort();
  return startServerProcess({
    name: "kube-scheduler",
    command,
    args: [
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${certificateDir}`,
    ],
    url: `https://127.0.0.1:${port}`,
    port,
    stopSignal: "SIGTERM",
    watchdog,
    startTimeoutMs: 60_000,
  });
}
