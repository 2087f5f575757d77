import { PermanentFailure } from "@flyte-ts/task-plugin";
import { PRIMARY_CONTAINER_KEY } from "../build/declared-pod.js";
import type { Pod } from "../pod-types.js";
import type { PodState, GracePeriods } from "./pod-state.js";
import { deletionFailure, deletedBeforeExit } from "./deletion.js";
import { type TerminalResult, failedPodResult, OOM_KILLED, primaryContainerResult, succeededPodResult } from "./terminal-result.js";
import { pendingState } from "./pending.js";
import { lastContainerTransition } from "./pod-times.js";

export interface PodStateOptions {
  readonly gracePeriods: GracePeriods;
  readonly now: Date;
}

/**
 * Derives the state of a pod as it matters to its attempt. Unlike Go Flyte's, the
 * result does not depend on which of two changes is observed first: the primary container's end
 * decides, whatever the pod's phase; killed containers and evicted pods are system failures.
 */
export function derivePodState(pod: Pod, { gracePeriods, now }: PodStateOptions): PodState {
  const primary = pod.metadata.annotations?.[PRIMARY_CONTAINER_KEY];
  const result = terminalResult(pod, primary);
  const occurredAt = lastContainerTransition(pod) ?? now;
  if (result === "succeeded") return { kind: "succeeded", occurredAt };
  if (result !== undefined) {
    const isOwnFailure = result.details.kind !== "USER" || result.details.code === OOM_KILLED;
    return { kind: "failed", failure: (isOwnFailure ? undefined : deletedBeforeExit(pod)) ?? result, occurredAt };
  }
  const deletionError = deletionFailure(pod);
  const deletion: PodState | undefined = deletionError && { kind: "failed", failure: deletionError, occurredAt: now };
  if (pod.status?.phase === "Pending" || pod.status?.phase === undefined) {
    const state = pendingState(pod, gracePeriods, now);
    if (state.kind === "failed") return state;
    return deletion ?? state;
  }
  return deletion ?? runningState(pod, primary, occurredAt);
}

function terminalResult(pod: Pod, primary: string | undefined): TerminalResult | undefined {
  switch (pod.status?.phase) {
    case "Succeeded":
      return succeededPodResult(pod);
    case "Failed":
      return (primary === undefined ? undefined : primaryContainerResult(pod, primary)) ?? failedPodResult(pod, primary);
    case "Pending":
    case undefined:
      // A kubelet may report the end of a program that ran for less than a second before it marks
      // the pod running.
      return primary === undefined ? undefined : primaryContainerResult(pod, primary);
    default:
      return primary === undefined ? allContainersSucceeded(pod) : primaryContainerResult(pod, primary);
  }
}

/**
 * Succeeds when all containers have succeeded, for pods without a primary container. Returns
 * undefined otherwise: a failed pod has the phase Failed.
 */
function allContainersSucceeded({ status }: Pod): TerminalResult | undefined {
  const containers = status?.containerStatuses ?? [];
  const all = [...containers, ...(status?.initContainerStatuses ?? [])];
  return containers.length > 0 && all.every(({ state }) => state?.terminated?.exitCode === 0) ? "succeeded" : undefined;
}

function runningState(pod: Pod, primary: string | undefined, occurredAt: Date): PodState {
  const known = (list: readonly { name: string }[] | undefined) => list?.some(({ name }) => name === primary) ?? false;
  if (primary !== undefined && !known(pod.status?.containerStatuses) && !known(pod.spec.containers)) {
    const message = `Primary container [${primary}] not found in pod's container statuses`;
    return { kind: "failed", failure: new PermanentFailure({ code: "PrimaryContainerNotFound", message, kind: "USER" }), occurredAt };
  }
  return { kind: "progress", phase: "RUNNING", occurredAt };
}
