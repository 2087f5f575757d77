import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { acquireLock, cacheDir, type ProcessWatchdog } from "@flyte-ts/host";
import { startEtcd } from "../kubernetes/etcd.js";
import { startKubeApiserver } from "../kubernetes/kube-apiserver.js";
import { startControllerManager } from "../kubernetes/kube-controller-manager.js";
import { type LocalServer, ServerStartError } from "@flyte-ts/local-servers";
import { CLUSTER_DOMAIN, startCoreDns } from "./core-dns.js";
import { startKubeProxy } from "./kube-proxy.js";
import { createBridge, removeBridge } from "./bridge.js";
import { runCommand } from "./run-command.js";
import { startContainerd } from "./containerd.js";
import { removeContainers, removePods } from "./containers.js";
import { importImages, buildPauseImage } from "./images.js";
import { createClientCertificate, startKubelet } from "./kubelet.js";
import { unmountBelow } from "./mounts.js";
import type { ImageSpec } from "./oci-archive.js";
import { missingNodeRequirements, findNetworkPlugins } from "./requirements.js";
import { startScheduler } from "./scheduler.js";

export interface SingleNodeOptions {
  /** State of this run: etcd, keys, pods' volumes, logs of the node. */
  readonly stateDir: string;
  /** Images for pods besides those that the node can pull. */
  readonly images: readonly ImageSpec[];
  /**
   * True: pods reach Services by their names, by a DNS server and rules of iptables, and reach no
   * names outside the cluster. Default false.
   */
  readonly services?: boolean;
  /** Further settings of KubeletConfiguration. */
  readonly kubelet?: object;
  /** Further flags. */
  readonly args?: { readonly apiserver?: readonly string[]; readonly controllers?: readonly string[] };
  /** Called before slow steps: building programs, importing images. */
  readonly onProgress?: (what: string) => void;
  /** Ends the servers when this process exits. */
  readonly watchdog?: ProcessWatchdog | undefined;
}

export interface SingleNodeCluster {
  /** Kubeconfig with an administrator's token. */
  readonly kubeconfig: string;
  /** Address of this machine, for pods. */
  readonly address: string;
  /** Name of the node. */
  readonly node: string;
  /** Ends all pods, then all servers. */
  stop(): Promise<void>;
}

const NODE = "one-node";
/** Short, since paths of sockets are limited. */
const RUN_DIR = "/run/flyte-ts-one-node";
const NODE_READY_TIMEOUT_MS = 60_000;

/**
 * Starts a whole Kubernetes cluster of one real node on this machine: etcd, kube-apiserver with
 * RBAC, all controllers, the scheduler, kubelet, containerd and a network of its own. One at a
 * time.
 *
 * @throws ServerStartError when this machine cannot be a node, or is one already
 */
export async function startSingleNodeCluster(options: SingleNodeOptions): Promise<SingleNodeCluster> {
  const { stateDir, watchdog, args = {}, onProgress = () => undefined } = options;
  const missing = missingNodeRequirements();
  if (missing !== undefined) throw new ServerStartError(missing);
  const file = (name: string) => join(stateDir, name);
  mkdirSync(stateDir, { recursive: true });
  claimMachine();
  const stops: (() => Promise<void>)[] = [() => Promise.resolve(rmSync(RUN_DIR, { recursive: true, force: true }))];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  const stopLater = async <S extends LocalServer>(starting: Promise<S>): Promise<S> => {
    const server = await starting;
    stops.push(() => server.stop());
    return server;
  };
  try {
    const network = await createBridge(file("network"));
    stops.push(removeBridge);
    const containerd = await stopLater(
      startContainerd({
        rootDir: join(cacheDir(), "one-node", "containerd"),
        stateDir: join(RUN_DIR, "containerd"),
        networkConfigDir: network.configDir,
        networkPluginDir: findNetworkPlugins() ?? "",
        logFile: file("containerd.log"),
        watchdog,
      }),
    );
    await removeContainers(containerd);
    await importImages(containerd, [await buildPauseImage(onProgress), ...options.images], onProgress);
    const etcd = await stopLater(startEtcd({ dataDir: file("etcd"), durable: false, watchdog, onProgress }));
    const client = await createClientCertificate(file("certificates"));
    const dataDir = file("kubernetes");
    const kubeletFlags = [
      `--kubelet-client-certificate=${client.certificate}`,
      `--kubelet-client-key=${client.key}`,
      "--kubelet-preferred-address-types=InternalIP",
    ];
    const { kubeconfig } = await stopLater(
      startKubeApiserver({
        dataDir,
        address: network.address,
        etcdUrl: etcd.url,
        authorization: "RBAC",
        serviceAccounts: true,
        args: [...kubeletFlags, ...(args.apiserver ?? [])],
        watchdog,
        onProgress,
      }),
    );
    await stopLater(
      startControllerManager({
        kubeconfig,
        dataDir,
        controllers: ["*"],
        args: [`--root-ca-file=${join(dataDir, "certificates", "apiserver.crt")}`, ...(args.controllers ?? [])],
        watchdog,
        onProgress,
      }),
    );
    await stopLater(startScheduler({ kubeconfig, certificateDir: file("scheduler"), onProgress, watchdog }));
    const dns = { address: network.address, stateDir: file("services"), kubeconfig, onProgress, watchdog };
    if (options.services) {
      await stopLater(startCoreDns({ ...dns, logFile: file("coredns.log") }));
      await stopLater(startKubeProxy({ ...dns, node: NODE, podAddresses: network.subnet, logFile: file("kube-proxy.log") }));
    }
    stops.push(() => unmountBelow(file("kubelet")));
    const kubelet = await superviseServer(() =>
      startKubelet({
        node: NODE,
        address: network.address,
        kubeconfig,
        stateDir: file("kubelet"),
        socket: containerd.socket,
        client,
        settings: { ...(options.services ? { clusterDNS: [network.address], clusterDomain: CLUSTER_DOMAIN } : {}), ...options.kubelet },
        logFile: file("kubelet.log"),
        onProgress,
        watchdog,
      }),
    );
    stops.push(kubelet.stop);
    stops.push(() => removePods(kubeconfig, containerd));
    await waitForNode(kubeconfig);
    return {
      kubeconfig,
      address: network.address,
      node: NODE,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Restarts the kubelet when it ends, as a node's init does. */
async function superviseServer(start: () => Promise<LocalServer>): Promise<{ stop: () => Promise<void> }> {
  let stopping = false;
  let current = await start();
  const running = (async () => {
    for (;;) {
      await current.ended;
      if (stopping) return;
      current = await start();
    }
  })();
  return {
    stop: async () => {
      stopping = true;
      await current.stop();
      await running.catch(() => undefined);
    },
  };
}

async function waitForNode(kubeconfig: string): Promise<void> {
  const args = ["--kubeconfig", kubeconfig, "get", "node", NODE, "-o", 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'];
  const deadline = Date.now() + NODE_READY_TIMEOUT_MS;
  while ((await runCommand("kubectl", args).catch(() => "")) !== "True") {
    if (Date.now() > deadline) throw new ServerStartError(`node ${NODE} did not become ready`);
    await sleep(250);
  }
}

/**
 * Locks the machine: its network, sockets and images can serve one node only. The lock ends with
 * RUN_DIR.
 */
function claimMachine(): void {
  mkdirSync(RUN_DIR, { recursive: true });
  const holder = acquireLock(join(RUN_DIR, "pid"));
  if (holder !== undefined)
    throw new ServerStartError(`this machine already runs a node (process ${holder.pid ?? "unknown"}): stop that first`);
}
