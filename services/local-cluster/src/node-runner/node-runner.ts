import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { createKubeClient } from "@flyte-ts/kubernetes";
import { Readiness, startOpsServer } from "@flyte-ts/lifecycle";
import { type Logger, Metrics } from "@flyte-ts/telemetry";
import { lockDataDir } from "../data-lock.js";
import { describeNode, startKubelet } from "../kubelet/start-kubelet.js";
import { openApiPodSource } from "./api-pod-source.js";
import { countStarts } from "../metrics.js";
import type { NodeRunnerConfig } from "./config.js";
import { registerNode } from "./node-registration.js";

export interface NodeRunner {
  readonly opsPort: number;
  /** Stops; running pods are kept or killed as configured. */
  close(): Promise<void>;
  /** Kills pods synchronously where `podsOnStop` is `kill`, for a process that is exiting. */
  killPodsNow(): void;
}

export interface NodeRunnerOptions {
  readonly config: NodeRunnerConfig;
  readonly logger: Logger;
  readonly now: () => number;
  /** Path of python/fork_server.py. */
  readonly forkServerProgram: string;
}

/** Maximum silence of a healthy watch, ms; the server sends bookmarks every minute. */
const MAX_WATCH_SILENCE_MS = 300_000;

/** Runs this machine as a node of a cluster: its pods are local processes. */
export async function startNodeRunner({ config: options, logger, now, forkServerProgram }: NodeRunnerOptions): Promise<NodeRunner> {
  // Pods have other working directories, so paths must be absolute.
  const config = { ...options, dataDir: resolve(options.dataDir) };
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const unlock = await lockDataDir(config.dataDir);
  const client = await createKubeClient(config.kubernetes);
  const node = describeNode(config, now());
  const pods = await openApiPodSource({ client, logger, nodeName: node.name, now });
  const unregister = await registerNode({ client, node, logger, now });
  const metrics = new Metrics();
  const onStart = countStarts(metrics);
  const { dataDir, schedule: bindPods } = config;
  const kubelet = startKubelet({ pods, config, node, dataDir, logger, forkServerProgram, bindPods, onStart });
  const watching = () => {
    const lag = pods.lagMs();
    return lag !== undefined && lag < MAX_WATCH_SILENCE_MS ? undefined : "the watch of pods shows no activity";
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
