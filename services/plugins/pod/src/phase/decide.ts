import { PermanentFailure } from "@flyte-ts/task-plugin";
import { PRIMARY_CONTAINER } from "../build/raw-pod.js";
import type { Pod } from "../kube/pod-types.js";
import type { Decision, GracePeriods } from "./decision.js";
import { beingDeleted, deletedBeforeItsEnd } from "./deleted.js";
import { type Ending, failedEnding, OOM, primaryEnding, succeededEnding } from "./ended.js";
import { decidePending } from "./pending.js";
import { lastTransition } from "./pod-times.js";

export interface DecideOptions {
  readonly graces: GracePeriods;
  readonly now: Date;
}

/**
 * Derives an attempt's state from its pod's (contract §6.4). Where Go Flyte's result depends on which of two changes it
 * sees first, this one does not: the primary container's end decides, whatever the pod's phase; killed containers and
 * evicted pods are system failures.
 */
export function decide(pod: Pod, { graces, now }: DecideOptions): Decision {
  const primary = pod.metadata.annotations?.[PRIMARY_CONTAINER];
  const ending = endingOf(pod, primary);
  const occurredAt = lastTransition(pod) ?? now;
  if (ending === "succeeded") return { kind: "succeeded", occurredAt };
  if (ending !== undefined) {
    const own = ending.details.kind !== "USER" || ending.details.code === OOM;
    return { kind: "failed", failure: (own ? undefined : deletedBeforeItsEnd(pod)) ?? ending, occurredAt };
  }
  const deleted = beingDeleted(pod);
  const deletion: Decision | undefined = deleted && { kind: "failed", failure: deleted, occurredAt: now };
  if (pod.status?.phase === "Pending" || pod.status?.phase === undefined) {
    const decision = decidePending(pod, graces, now);
    if (decision.kind === "failed") return decision;
    return deletion ?? decision;
  }
  return deletion ?? decideRunning(pod, primary, occurredAt);
}

function endingOf(pod: Pod, primary: string | undefined): Ending | undefined {
  switch (pod.status?.phase) {
    case "Succeeded":
      return succeededEnding(pod);
    case "Failed":
      return (primary === undefined ? undefined : primaryEnding(pod, primary)) ?? failedEnding(pod, primary);
    case "Pending":
    case undefined:
      // A kubelet may report the end of a program that ran for less than a second before it marks the pod running.
      return primary === undefined ? undefined : primaryEnding(pod, primary);
    default:
      return primary === undefined ? everyContainerEnded(pod) : primaryEnding(pod, primary);
  }
}

/** Without a primary container the attempt ends with all of them; a failed pod has its own phase. */
function everyContainerEnded({ status }: Pod): Ending | undefined {
  const containers = status?.containerStatuses ?? [];
  const all = [...containers, ...(status?.initContainerStatuses ?? [])];
  return containers.length > 0 && all.every(({ state }) => state?.terminated?.exitCode === 0) ? "succeeded" : undefined;
}

function decideRunning(pod: Pod, primary: string | undefined, occurredAt: Date): Decision {
  const known = (list: readonly { name: string }[] | undefined) => list?.some(({ name }) => name === primary) ?? false;
  if (primary !== undefined && !known(pod.status?.containerStatuses) && !known(pod.spec.containers)) {
    const message = `Primary container [${primary}] not found in pod's container statuses`;
    return { kind: "failed", failure: new PermanentFailure({ code: "PrimaryContainerNotFound", message, kind: "USER" }), occurredAt };
  }
  return { kind: "progress", phase: "RUNNING", occurredAt };
}
