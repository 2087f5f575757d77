import type { PodStatus } from "../pod-types.js";

/**
 * Kubernetes' reason for removing the pod: a drained, tainted or lost node, or a pod of higher
 * priority.
 */
export function disruptionReason(status: PodStatus | undefined): string | undefined {
  const condition = status?.conditions?.find(({ type, status }) => type === "DisruptionTarget" && status === "True");
  return condition && (condition.message || condition.reason || condition.type);
}
