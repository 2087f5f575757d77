import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../free-port.js";
import type { Guard } from "../guard.js";
import { findKubernetesProgram } from "../kubernetes-program.js";
import { type LocalServer, startServerProcess } from "../server-process.js";
import { command } from "./command.js";
import { logTo } from "./log-file.js";

export interface KubeletOptions {
  /** Name of the node. */
  readonly node: string;
  /** Address of this machine on the pods' network, at which the API server reaches the kubelet. */
  readonly address: string;
  readonly kubeconfig: string;
  /** Pods' volumes and logs of containers' ends. */
  readonly folder: string;
  /** Socket of containerd. */
  readonly socket: string;
  /** Client certificate required of callers. */
  readonly client: ClientCertificate;
  /** Further settings of KubeletConfiguration. */
  readonly settings?: object;
  readonly logFile: string;
  readonly onBuild?: ((what: string) => void) | undefined;
  readonly guard?: Guard | undefined;
}

/** Files of a self-signed certificate and its key. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Creates the certificate with which the API server calls the kubelet, for logs and `exec`. */
export async function makeClientCertificate(folder: string): Promise<ClientCertificate> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files = { certificate: join(folder, "kubelet-client.crt"), key: join(folder, "kubelet-client.key") };
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "365", "-subj", "/O=system:masters/CN=kube-apiserver"];
  await command("openssl", [...made, "-keyout", files.key, "-out", files.certificate]);
  return files;
}

export async function startKubelet(options: KubeletOptions): Promise<LocalServer> {
  const { node, address, folder, kubeconfig, logFile, guard } = options;
  const program = await findKubernetesProgram("kubelet", options.onBuild);
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const file = join(folder, "kubelet.json");
  writeFileSync(file, JSON.stringify(await configuration(options, port), null, 2));
  return startServerProcess({
    name: "kubelet",
    command: program,
    args: [
      `--config=${file}`,
      `--kubeconfig=${kubeconfig}`,
      `--root-dir=${folder}`,
      `--cert-dir=${join(folder, "certificates")}`,
      `--hostname-override=${node}`,
      `--node-ip=${address}`,
      "--v=2",
    ],
    options: logTo(logFile),
    url: `http://127.0.0.1:${port}`,
    port,
    stopSignal: "SIGTERM",
    guard,
    patienceMs: 60_000,
  });
}

async function configuration({ address, folder, socket, client, settings }: KubeletOptions, healthzPort: number): Promise<object> {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address,
    port: await freePort(),
    healthzPort,
    authentication: { x509: { clientCAFile: client.certificate }, anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    containerRuntimeEndpoint: `unix://${socket}`,
    podLogsDir: join(folder, "logs"),
    cgroupDriver: "cgroupfs",
    failCgroupV1: false,
    failSwapOn: false,
    // Images are kept: they could not be pulled again.
    imageGCHighThresholdPercent: 100,
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%", "nodefs.inodesFree": "1%" },
    ...settings,
  };
}
