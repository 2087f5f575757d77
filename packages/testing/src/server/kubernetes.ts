import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  compactEtcd,
  findControllerManager,
  findEtcd,
  findKubeApiserver,
  type KubeApiserver,
  startControllerManager,
  startEtcd,
  startKubeApiserver,
} from "@flyte-ts/test-servers";
import { type LocalServer, ServerStartError } from "@flyte-ts/local-servers";
import type { ServerFixture } from "./servers.js";
import { suspendProcess } from "./suspend-process.js";
import { testWatchdog } from "./test-watchdog.js";

/** Starts of the API server before the fixture gives up. */
const START_TRIES = 3;

/** A real kube-apiserver with its own etcd, without nodes. */
export interface KubernetesFixture extends ServerFixture {
  /** Kubeconfig with an administrator's token. */
  readonly kubeconfig: string;
  readonly token: string;
  /** CA certificate of the server, PEM. */
  readonly ca: string;
  /** Process id of the API server; a restart changes it. */
  pid(): number;
  /** Suspends the process: connections stay open and nothing answers. */
  pause(): Promise<void>;
  resume(): void;
  /**
   * Starts the controllers that the option `controllers` starts at once, and those that are named.
   * A garbage collector that starts when all kinds exist watches them at once; it looks for new
   * ones every 30 s.
   */
  startControllers(moreControllers?: readonly string[]): Promise<void>;
  readonly etcd: {
    readonly url: string;
    pid(): number;
    kill(): Promise<void>;
    restart(): Promise<void>;
    /**
     * Compacts all revisions up to now; resolves to that revision. The API server still answers
     * from its watch cache until it is restarted.
     */
    compact(): Promise<number>;
  };
}

export interface KubernetesFixtureOptions {
  /**
   * Also run kube-controller-manager's garbage collector, namespace, service account and quota
   * controllers, and those that are named. Default false.
   */
  readonly controllers?: boolean | readonly string[];
  /** Authorization mode. Default AlwaysAllow. */
  readonly authorization?: "AlwaysAllow" | "RBAC";
  /** Further flags of kube-apiserver. */
  readonly args?: readonly string[];
  /** False: etcd does not sync to disk. Default false. */
  readonly durable?: boolean;
}

/**
 * Returns why a real Kubernetes API cannot run here (no Go, no network), in one line that is also
 * printed; undefined when its programs are available. The first call on a machine builds them,
 * which takes minutes.
 *
 *     const unavailable = await kubernetesSkipReason();
 *     describe.skipIf(unavailable)("on a real Kubernetes API", …)
 */
export async function kubernetesSkipReason(): Promise<string | undefined> {
  try {
    await findEtcd(reportBuild);
    await findKubeApiserver(reportBuild);
    await findControllerManager(reportBuild);
    return undefined;
  } catch (error) {
    const reason = (error as Error).message.replaceAll(/\s*\n\s*/g, "; ");
    process.stderr.write(`skipped, no real Kubernetes API: ${reason}\n`);
    return reason;
  }
}

/** Starts a server, again when a busy machine lets it miss its own deadlines. */
async function startAgain<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof ServerStartError) || tries === START_TRIES) throw error;
    }
  }
}

function reportBuild(what: string): void {
  process.stderr.write(`building ${what} (once, takes a few minutes) …\n`);
}

export async function kubernetesFixture(options: KubernetesFixtureOptions = {}): Promise<KubernetesFixture> {
  const dir = mkdtempSync(join(tmpdir(), "flyte-ts-test-kubernetes-"));
  const durable = options.durable ?? false;
  const watchdog = testWatchdog();
  const startStorage = (port?: number) =>
    startEtcd({ dataDir: join(dir, "etcd"), durable, watchdog, onProgress: reportBuild, ...(port === undefined ? {} : { port }) });
  let etcd = await startStorage();
  const dataDir = join(dir, "kubernetes");
  const startApi = (port?: number) =>
    startKubeApiserver({
      dataDir,
      etcdUrl: etcd.url,
      watchdog,
      onProgress: reportBuild,
      args: options.args ?? [],
      ...(options.authorization === undefined ? {} : { authorization: options.authorization }),
      ...(port === undefined ? {} : { port }),
    });
  let api: KubeApiserver;
  let controllers: LocalServer | undefined;
  const startControllers = async (moreControllers: readonly string[] = []) => {
    controllers = await startControllerManager({
      kubeconfig: api.kubeconfig,
      dataDir,
      moreControllers,
      watchdog,
      onProgress: reportBuild,
    });
  };
  const stop = async () => {
    await controllers?.kill();
    await api?.kill();
    await etcd.kill();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    api = await startAgain(startApi);
    if (options.controllers) await startControllers(options.controllers === true ? [] : options.controllers);
  } catch (error) {
    await etcd.kill();
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  const { url, port, kubeconfig, token, ca } = api;
  return {
    url,
    port,
    kubeconfig,
    token,
    ca,
    pid: () => api.pid,
    pause: () => suspendProcess(api.pid),
    resume: () => void process.kill(api.pid, "SIGCONT"),
    startControllers,
    kill: () => api.kill(),
    restart: async () => {
      // Killed: it has no state, and a graceful end takes as long as its watches last.
      await api.kill();
      api = await startApi(port);
    },
    stop,
    etcd: {
      url: etcd.url,
      pid: () => etcd.pid,
      kill: () => etcd.kill(),
      restart: async () => {
        await etcd.stop();
        etcd = await startStorage(etcd.port);
      },
      compact: () => compactEtcd(etcd.url),
    },
  };
}
