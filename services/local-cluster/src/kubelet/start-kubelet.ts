import type { Logger } from "@flyte-ts/telemetry";
import type { PodSettings } from "../config.js";
import { Reaper } from "./container/reaper.js";
import { EventRecorder } from "./event-recorder.js";
import { Kubelet } from "./kubelet.js";
import { allocatableOf, type NodeDescription, nodeLabels, thisMachine } from "./node-object.js";
import type { PodSource } from "./pod-source.js";
import { Scheduler } from "./scheduler.js";

/** Pods are processes of this machine and have its address. */
const HOST_IP = "127.0.0.1";

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
  readonly podsFolder: string;
  readonly logger: Logger;
  /** Give waiting pods this node; false where a scheduler does so. */
  readonly schedule: boolean;
}

/** Runs the pods of this node from now on. */
export function startKubelet({ pods, config, node, podsFolder, logger, schedule }: KubeletStart): Kubelet {
  const events = new EventRecorder(pods, node.name);
  const { name: nodeName, allocatable, hostIP } = node;
  const placing = schedule ? { scheduler: new Scheduler({ pods, events, nodeName, allocatable, labels: nodeLabels(node) }) } : {};
  return new Kubelet({
    pods,
    events,
    logger,
    podsFolder,
    reaper: new Reaper(),
    settings: { nodeName, hostIP, allocatable, podEnv: config.podEnv, podPath: config.podPath, machineEnv: process.env },
    unreachableImages: config.imagePolicy.unreachable,
    maxLogBytes: config.maxLogBytes,
    enforceMemory: config.memoryLimits === "enforce",
    ...placing,
  });
}
