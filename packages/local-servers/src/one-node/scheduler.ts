import { freePort } from "../free-port.js";
import type { Guard } from "../guard.js";
import { findKubernetesProgram } from "../kubernetes-program.js";
import { type LocalServer, startServerProcess } from "../server-process.js";

export interface SchedulerOptions {
  readonly kubeconfig: string;
  /** Folder for its own certificate. */
  readonly certificates: string;
  readonly onBuild?: ((what: string) => void) | undefined;
  readonly guard?: Guard | undefined;
}

export async function startScheduler({ kubeconfig, certificates, onBuild, guard }: SchedulerOptions): Promise<LocalServer> {
  const command = await findKubernetesProgram("kube-scheduler", onBuild);
  const port = await freePort();
  return startServerProcess({
    name: "kube-scheduler",
    command,
    args: [
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${certificates}`,
    ],
    url: `https://127.0.0.1:${port}`,
    port,
    stopSignal: "SIGTERM",
    guard,
    patienceMs: 60_000,
  });
}
