import type { Pod } from "@flyte-ts/pod-task";

/**
 * True when no process of the task runs in the pod any more. False after a failure for an
 * unavailable image: the attempt has ended, but the pod still exists.
 */
export function hasExited({ status }: Pod): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return true;
  const containers = status?.containerStatuses ?? [];
  return containers.length > 0 && containers.every(({ state }) => state?.terminated !== undefined);
}
