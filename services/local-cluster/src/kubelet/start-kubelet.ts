import { join } from "node:path";
import type { Logger } from "@flyte-ts/telemetry";
import type { PodSettings } from "../config.js";
import { ProcessReaper } from "./container/process-reaper.js";
import { PythonForkServerPool } from "./container/python-fork-server.js";
import { EventRecorder } from "./pod/event-recorder.js";
import { Kubelet } from "./kubelet.js";
import { allocatableOf, type NodeDescription, nodeLabels, thisMachine } from "./node/node-object.js";
import type { PodSource } from "./pod/pod-source.js";
import { Scheduler } from "./node/scheduler.js";
import { defaultForkRequest } from "./container/start-plan.js";

/** Pods are processes of this machine and have its address. */
const HOST_IP = "127.0.0.1";

/** Each takes 75 MiB, which its forks share. */
const MAX_FORK_SERVERS = 2;

export const podsDir = (dataDir: string) => join(dataDir, "pods");

/** What this machine is as a node. */
export function describeNode(config: PodSettings, now: number): NodeDescription {
  const machine = thisMachine();
  const allocatable = allocatableOf(machine, config.allocatable);
  return { name: config.nodeName, hostIP: HOST_IP, machine, allocatable, labels: config.nodeLabels, now };
}

export interface KubeletStart {
  readonly pods: PodSource;
  readonly config: PodSettings;
  readonly node: NodeDescription;
  readonly dataDir: string;
  readonly logger: Logger;
  /** File of python/warm.py. */
  readonly forkServerProgram: string;
  /** Give waiting pods this node; false where a scheduler does so. */
  readonly bindPods: boolean;
}

/** Runs the pods of this node from now on. */
export function startKubelet({ pods, config, node, dataDir, logger, forkServerProgram, bindPods }: KubeletStart): Kubelet {
  const events = new EventRecorder(pods, node.name);
  const { name: nodeName, allocatable, hostIP } = node;
  const scheduling = bindPods ? { scheduler: new Scheduler({ pods, events, nodeName, allocatable, labels: nodeLabels(node) }) } : {};
  const settings = { nodeName, hostIP, allocatable, podEnv: config.podEnv, podPath: config.podPath, machineEnv: process.env };
  const { enabled, ahead, idleMs, modules } = config.warmPython;
  const forkServers = enabled
    ? new PythonForkServerPool({
        program: forkServerProgram,
        logFile: join(dataDir, "warm-python.log"),
        logger,
        idleTimeoutMs: idleMs,
        maxServers: MAX_FORK_SERVERS,
        modules,
      })
    : undefined;
  if (ahead) forkServers?.startEagerly(defaultForkRequest(["pyflyte-execute"], settings));
  return new Kubelet({
    pods,
    events,
    logger,
    podsFolder: podsDir(dataDir),
    reaper: new ProcessReaper(),
    forkServers,
    settings,
    unreachableImages: config.imagePolicy.unreachable,
    maxLogBytes: config.maxLogBytes,
    enforceMemory: config.memoryLimits === "enforce",
    ...scheduling,
  });
}
