import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { findKubernetesProgram } from "../kubernetes/kubernetes-program.js";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";
import { runCommand } from "./run-command.js";
import { appendOutputTo } from "./log-file.js";

export interface KubeletOptions {
  /** Name of the node. */
  readonly node: string;
  /** Address of this machine on the pods' network, at which the API server reaches the kubelet. */
  readonly address: string;
  readonly kubeconfig: string;
  /** Root folder of the kubelet: pods' volumes, logs of containers, certificates. */
  readonly stateDir: string;
  /** Socket of containerd. */
  readonly socket: string;
  /** Client certificate required of callers. */
  readonly client: ClientCertificate;
  /** Further settings of KubeletConfiguration. */
  readonly settings?: object;
  readonly logFile: string;
  readonly onProgress?: ((what: string) => void) | undefined;
  readonly watchdog?: ProcessWatchdog | undefined;
}

/** Files of a self-signed certificate and its key. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Creates the certificate with which the API server calls the kubelet, for logs and `exec`. */
export async function createClientCertificate(dir: string): Promise<ClientCertificate> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const files = { certificate: join(dir, "kubelet-client.crt"), key: join(dir, "kubelet-client.key") };
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "365", "-subj", "/O=system:masters/CN=kube-apiserver"];
  await runCommand("openssl", [...args, "-keyout", files.key, "-out", files.certificate]);
  return files;
}

export async function startKubelet(options: KubeletOptions): Promise<LocalServer> {
  const { node, address, stateDir, kubeconfig, logFile, watchdog } = options;
  const program = await findKubernetesProgram("kubelet", options.onProgress);
  mkdirSync(stateDir, { recursive: true });
  const port = await freePort();
  const file = join(stateDir, "kubelet.json");
  writeFileSync(file, JSON.stringify(await configuration(options, port), null, 2));
  return startServerProcess({
    name: "kubelet",
    command: program,
    args: [
      `--config=${file}`,
      `--kubeconfig=${kubeconfig}`,
      `--root-dir=${stateDir}`,
      `--cert-dir=${join(stateDir, "certificates")}`,
      `--hostname-override=${node}`,
      `--node-ip=${address}`,
      "--v=2",
    ],
    options: appendOutputTo(logFile),
    url: `http://127.0.0.1:${port}`,
    port,
    stopSignal: "SIGTERM",
    watchdog,
    startTimeoutMs: 60_000,
  });
}

async function configuration({ address, stateDir, socket, client, settings }: KubeletOptions, healthzPort: number): Promise<object> {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address,
    port: await freePort(),
    healthzPort,
    authentication: { x509: { clientCAFile: client.certificate }, anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    containerRuntimeEndpoint: `unix://${socket}`,
    podLogsDir: join(stateDir, "logs"),
    cgroupDriver: "cgroupfs",
    failCgroupV1: false,
    failSwapOn: false,
    // Images are kept: they could not be pulled again.
    imageGCHighThresholdPercent: 100,
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%", "nodefs.inodesFree": "1%" },
    ...settings,
  };
}
