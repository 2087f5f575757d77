import type { PodStatus } from "../kube/pod-types.js";

/** Why the cluster takes the pod away, in its words: a drained or tainted node, one that is gone, a pod of higher priority. */
export function disruption(status: PodStatus | undefined): string | undefined {
  const condition = status?.conditions?.find(({ type, status }) => type === "DisruptionTarget" && status === "True");
  return condition && (condition.message || condition.reason || condition.type);
}
