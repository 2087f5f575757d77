import { join } from "node:path";
import type { Logger } from "@flyte-ts/telemetry";
import type { PodSettings } from "../config.js";
import { ProcessReaper } from "./container/process-reaper.js";
import { EventRecorder } from "./pod/event-recorder.js";
import { Kubelet } from "./kubelet.js";
import { allocatableOf, type NodeDescription, nodeLabels, thisMachine } from "./node/node-object.js";
import type { PodSource } from "./pod/pod-source.js";
import { Scheduler } from "./node/scheduler.js";
import { defaultForkRequest } from "./container/start-plan.js";
import { NodeSpares } from "./warm/node-spares.js";
import { PythonForkServerPool } from "./warm/python-fork-server.js";
import type { StartOrigin } from "./warm/warm-start.js";

/** Address of all pods, which are processes of this machine. */
const HOST_IP = "127.0.0.1";

/** Maximum number of fork servers; each uses 75 MiB, shared with its forks. */
const MAX_FORK_SERVERS = 2;

export const podsDir = (dataDir: string) => join(dataDir, "pods");

/** Describes this machine as a node. */
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
  /** Path of python/fork_server.py. */
  readonly forkServerProgram: string;
  /** Bind pending pods to this node; false when the cluster has a scheduler. */
  readonly bindPods: boolean;
  /** Called for each container that starts. */
  readonly onStart?: (origin: StartOrigin) => void;
}

/** Starts running the pods of this node. */
export function startKubelet({ pods, config, node, dataDir, logger, forkServerProgram, bindPods, onStart }: KubeletStart): Kubelet {
  const events = new EventRecorder(pods, node.name);
  const { name: nodeName, allocatable, hostIP } = node;
  const scheduling = bindPods ? { scheduler: new Scheduler({ pods, events, nodeName, allocatable, labels: nodeLabels(node) }) } : {};
  const settings = { nodeName, hostIP, allocatable, podEnv: config.podEnv, podPath: config.podPath, machineEnv: process.env };
  const { enabled, ahead, idleMs, modules } = config.warmPython;
  const forkServers = enabled
    ? new PythonForkServerPool({
        program: forkServerProgram,
        logFile: join(dataDir, "python-fork-server.log"),
        logger,
        idleTimeoutMs: idleMs,
        maxServers: MAX_FORK_SERVERS,
        modules,
      })
    : undefined;
  const { warmNode } = config;
  const spares = warmNode.enabled
    ? new NodeSpares({ folder: join(dataDir, "spares"), logger, idleTimeoutMs: warmNode.idleMs, maxSpares: warmNode.spares })
    : undefined;
  if (ahead) forkServers?.startEagerly(defaultForkRequest(["pyflyte-execute"], settings));
  return new Kubelet({
    pods,
    events,
    logger,
    podsFolder: podsDir(dataDir),
    reaper: new ProcessReaper(),
    warmStarters: [forkServers, spares].filter((starter) => starter !== undefined),
    onStart,
    settings,
    unreachableImages: config.imagePolicy.unreachable,
    maxLogBytes: config.maxLogBytes,
    enforceMemory: config.memoryLimits === "enforce",
    ...scheduling,
  });
}
