import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cacheFolder } from "../cache-folder.js";
import { startEtcd } from "../etcd.js";
import type { Guard } from "../guard.js";
import { startKubeApiserver } from "../kube-apiserver.js";
import { startControllerManager } from "../kube-controller-manager.js";
import { type LocalServer, ServerStartError } from "../server-process.js";
import { makeBridge, removeBridge } from "./bridge.js";
import { command } from "./command.js";
import { startContainerd } from "./containerd.js";
import { removeContainers, removePods } from "./containers.js";
import { importImages, pauseImage } from "./images.js";
import { makeClientCertificate, startKubelet } from "./kubelet.js";
import { unmount } from "./mounts.js";
import type { ImageSpec } from "./oci-archive.js";
import { missingForNode, networkPlugins } from "./requirements.js";
import { startScheduler } from "./scheduler.js";

export interface OneNodeOptions {
  /** State of this run: etcd, keys, pods' volumes, logs of the node. */
  readonly folder: string;
  /** Images for pods besides those that the node can pull. */
  readonly images: readonly ImageSpec[];
  /** Further settings of KubeletConfiguration. */
  readonly kubelet?: object;
  /** Further flags. */
  readonly args?: { readonly apiserver?: readonly string[]; readonly controllers?: readonly string[] };
  /** Called before slow steps: building programs, importing images. */
  readonly onSlow?: (what: string) => void;
  /** Ends the servers when this process dies. */
  readonly guard?: Guard | undefined;
}

export interface OneNodeCluster {
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
const STATE = "/run/flyte-ts-one-node";
const READY_MS = 60_000;

/**
 * Starts a whole Kubernetes cluster of one real node on this machine: etcd, kube-apiserver with RBAC, all controllers,
 * the scheduler, kubelet, containerd and a network of its own. One at a time.
 *
 * @throws ServerStartError when this machine cannot be a node, or is one already
 */
export async function startOneNodeCluster(options: OneNodeOptions): Promise<OneNodeCluster> {
  const { folder, guard, args = {}, onSlow = () => undefined } = options;
  const missing = missingForNode();
  if (missing !== undefined) throw new ServerStartError(missing);
  const file = (name: string) => join(folder, name);
  mkdirSync(folder, { recursive: true });
  claim();
  const stops: (() => Promise<void>)[] = [() => Promise.resolve(rmSync(STATE, { recursive: true, force: true }))];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  const keep = async <S extends LocalServer>(starting: Promise<S>): Promise<S> => {
    const server = await starting;
    stops.push(() => server.stop());
    return server;
  };
  try {
    const network = await makeBridge(file("network"));
    stops.push(removeBridge);
    const containerd = await keep(
      startContainerd({
        root: join(cacheFolder(), "one-node", "containerd"),
        state: join(STATE, "containerd"),
        networkFolder: network.folder,
        networkPlugins: networkPlugins() ?? "",
        logFile: file("containerd.log"),
        guard,
      }),
    );
    await removeContainers(containerd);
    await importImages(containerd, [await pauseImage(onSlow), ...options.images], onSlow);
    const etcd = await keep(startEtcd({ dataDir: file("etcd"), durable: false, guard, onBuild: onSlow }));
    const client = await makeClientCertificate(file("certificates"));
    const dataDir = file("kubernetes");
    const toKubelet = [
      `--kubelet-client-certificate=${client.certificate}`,
      `--kubelet-client-key=${client.key}`,
      "--kubelet-preferred-address-types=InternalIP",
    ];
    const { kubeconfig } = await keep(
      startKubeApiserver({
        dataDir,
        etcdUrl: etcd.url,
        authorization: "RBAC",
        podAccounts: true,
        args: [...toKubelet, ...(args.apiserver ?? [])],
        guard,
        onBuild: onSlow,
      }),
    );
    await keep(
      startControllerManager({
        kubeconfig,
        dataDir,
        controllers: ["*"],
        args: [`--root-ca-file=${join(dataDir, "certificates", "apiserver.crt")}`, ...(args.controllers ?? [])],
        guard,
        onBuild: onSlow,
      }),
    );
    await keep(startScheduler({ kubeconfig, certificates: file("scheduler"), onBuild: onSlow, guard }));
    stops.push(() => unmount(file("kubelet")));
    const kubelet = await keepRunning(() =>
      startKubelet({
        node: NODE,
        address: network.address,
        kubeconfig,
        folder: file("kubelet"),
        socket: containerd.socket,
        client,
        settings: options.kubelet ?? {},
        logFile: file("kubelet.log"),
        onBuild: onSlow,
        guard,
      }),
    );
    stops.push(kubelet.stop);
    stops.push(() => removePods(kubeconfig, containerd));
    await nodeReady(kubeconfig);
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
async function keepRunning(start: () => Promise<LocalServer>): Promise<{ stop: () => Promise<void> }> {
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

async function nodeReady(kubeconfig: string): Promise<void> {
  const ask = ["--kubeconfig", kubeconfig, "get", "node", NODE, "-o", 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'];
  const deadline = Date.now() + READY_MS;
  while ((await command("kubectl", ask).catch(() => "")) !== "True") {
    if (Date.now() > deadline) throw new ServerStartError(`node ${NODE} did not become ready`);
    await sleep(250);
  }
}

/** Network, sockets and images belong to the machine: two nodes would conflict. */
function claim(): void {
  const file = join(STATE, "pid");
  mkdirSync(STATE, { recursive: true });
  try {
    const pid = Number(readFileSync(file, "utf8"));
    process.kill(pid, 0);
    throw new ServerStartError(`this machine is a node already (process ${pid}): end that first`);
  } catch (error) {
    if (error instanceof ServerStartError) throw error;
  }
  writeFileSync(file, String(process.pid));
}
