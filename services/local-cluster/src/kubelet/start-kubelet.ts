import { join } from "node:path";
import type { Logger } from "@flyte-ts/telemetry";
import type { PodSettings } from "../config.js";
import { Reaper } from "./container/reaper.js";
import { WarmPythons } from "./container/warm-python.js";
import { EventRecorder } from "./event-recorder.js";
import { Kubelet } from "./kubelet.js";
import { allocatableOf, type NodeDescription, nodeLabels, thisMachine } from "./node-object.js";
import type { PodSource } from "./pod-source.js";
import { Scheduler } from "./scheduler.js";
import { usualStart } from "./start-container.js";

/** Pods are processes of this machine and have its address. */
const HOST_IP = "127.0.0.1";

/** Each takes 75 MiB, which its forks share. */
const MOST_PYTHONS = 2;

export const podsFolderOf = (dataDir: string) => join(dataDir, "pods");

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
  readonly warmProgram: string;
  /** Give waiting pods this node; false where a scheduler does so. */
  readonly schedule: boolean;
}

/** Runs the pods of this node from now on. */
export function startKubelet({ pods, config, node, dataDir, logger, warmProgram, schedule }: KubeletStart): Kubelet {
  const events = new EventRecorder(pods, node.name);
  const { name: nodeName, allocatable, hostIP } = node;
  const placing = schedule ? { scheduler: new Scheduler({ pods, events, nodeName, allocatable, labels: nodeLabels(node) }) } : {};
  const settings = { nodeName, hostIP, allocatable, podEnv: config.podEnv, podPath: config.podPath, machineEnv: process.env };
  const { enabled, ahead, idleMs, modules } = config.warmPython;
  const warm = enabled
    ? new WarmPythons({ program: warmProgram, logFile: join(dataDir, "warm-python.log"), logger, idleMs, most: MOST_PYTHONS, modules })
    : undefined;
  if (ahead) warm?.prepare(usualStart(["pyflyte-execute"], settings));
  return new Kubelet({
    pods,
    events,
    logger,
    podsFolder: podsFolderOf(dataDir),
    reaper: new Reaper(),
    warm,
    settings,
    unreachableImages: config.imagePolicy.unreachable,
    maxLogBytes: config.maxLogBytes,
    enforceMemory: config.memoryLimits === "enforce",
    ...placing,
  });
}
