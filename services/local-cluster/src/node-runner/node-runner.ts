import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { createKubeClient } from "@flyte-ts/kubernetes";
import { type Logger, Metrics, Readiness, startOpsServer } from "@flyte-ts/telemetry";
import { lockDataDir } from "../data-lock.js";
import { describeNode, startKubelet } from "../kubelet/start-kubelet.js";
import { openApiPodSource } from "./api-pod-source.js";
import type { NodeRunnerConfig } from "./config.js";
import { registerNode } from "./node-registration.js";

export interface NodeRunner {
  readonly opsPort: number;
  /** Stops working; pods keep running or end, as configured. */
  close(): Promise<void>;
  /** Ends the pods where they are to end with the service, before it returns: for a process that cannot wait for `close`. */
  killPodsNow(): void;
}

export interface NodeRunnerOptions {
  readonly config: NodeRunnerConfig;
  readonly logger: Logger;
  readonly now: () => number;
  /** File of python/warm.py. */
  readonly forkServerProgram: string;
}

/** A watch that shows no life for so long, though the server sends bookmarks every minute, is broken, ms. */
const MAX_WATCH_SILENCE_MS = 300_000;

/** Makes this machine a node of a cluster: its pods run here as processes. */
export async function startNodeRunner({ config: options, logger, now, forkServerProgram }: NodeRunnerOptions): Promise<NodeRunner> {
  // Pods have other working folders: paths must not depend on ours.
  const config = { ...options, dataDir: resolve(options.dataDir) };
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const unlock = lockDataDir(config.dataDir);
  const client = await createKubeClient(config.kubernetes);
  const node = describeNode(config, now());
  const pods = await openApiPodSource({ client, logger, nodeName: node.name, now });
  const unregister = await registerNode({ client, node, logger, now });
  const kubelet = startKubelet({ pods, config, node, dataDir: config.dataDir, logger, forkServerProgram, bindPods: config.schedule });
  const metrics = new Metrics();
  const watching = () => {
    const lag = pods.lagMs();
    return lag !== undefined && lag < MAX_WATCH_SILENCE_MS ? undefined : "the watch of pods is broken";
  };
  const readiness = new Readiness({ now: () => performance.now(), checks: { pods: watching } });
  const ops = await startOpsServer({ ...config.ops, metrics, readiness });
  readiness.serving();
  return {
    opsPort: ops.port,
    close: async () => {
      readiness.stopping();
      await kubelet.close(config.podsOnStop);
      await unregister();
      await pods.close();
      await client.close();
      await ops.close();
      unlock();
    },
    killPodsNow: () => {
      if (config.podsOnStop === "kill") kubelet.killNow();
    },
  };
}
