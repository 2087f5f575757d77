import { type RayJob, RayJobSchema } from "@flyte-ts/idl/flyteidl/plugins/ray_pb";
import type { K8sPod } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Container, PodSpec } from "../pod-types.js";
import { customMessage } from "./custom-message.js";
import { cpuCount, cpusOf, withVariables } from "./primary-container.js";

/** Most CPUs of a cluster of small nodes: Ray starts a process for each. */
const MAX_CPUS = 8;

/**
 * Runs a Ray cluster of one node, which `ray.init` of flytekit starts inside of the task's
 * container. CPUs of Ray are logical: the node has as many as the requested cluster, so that work
 * for several CPUs finds them, up to `MAX_CPUS` unless one requested node has more.
 *
 * @throws InvalidPodSpecError
 */
export function rayContainer(container: Container, { template }: TaskRequest): Container {
  const nodes = nodeCpus(customMessage(RayJobSchema, template?.custom), cpuCount(container));
  const total = nodes.reduce((sum, cpus) => sum + cpus, 0);
  return withVariables(container, {
    // A new local cluster, even where the machine runs another one.
    RAY_ADDRESS: "local",
    RAY_OVERRIDE_RESOURCES: JSON.stringify({ CPU: Math.min(total, Math.max(MAX_CPUS, ...nodes)) }),
    RAY_USAGE_STATS_ENABLED: "0",
    // Paths of sockets have at most 107 bytes; those of a pod's own folder may be longer.
    RAY_TMPDIR: "/tmp",
  });
}

/** CPUs of each requested node, the head first; `fallback` for a node that states none. */
function nodeCpus({ rayCluster }: RayJob, fallback: number): number[] {
  const head = podCpus(rayCluster?.headGroupSpec?.k8sPod) ?? fallback;
  const workers = (rayCluster?.workerGroupSpec ?? []).flatMap(({ replicas, minReplicas, k8sPod }) =>
    Array.from({ length: Math.min(Math.max(replicas, minReplicas, 0), MAX_CPUS) }, () => podCpus(k8sPod) ?? fallback),
  );
  return [head, ...workers];
}

function podCpus(pod: K8sPod | undefined): number | undefined {
  const containers = (pod?.podSpec as PodSpec | undefined)?.containers;
  const { limits, requests } = (Array.isArray(containers) ? containers[0]?.resources : undefined) ?? {};
  return cpusOf(limits?.["cpu"] ?? requests?.["cpu"]);
}
