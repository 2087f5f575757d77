import { type ContainerState, derivePodState, OOM_KILLED, type Pod, parseTime } from "@flyte-ts/pod-task";
import { type AttemptFailure, type PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import type { Operator } from "../operator.js";

/** Grace periods do not matter: only pods that have ended are read. */
const NO_GRACE = { createContainerErrorMs: 0, createContainerConfigErrorMs: 0, imagePullBackOffMs: 0, podPendingMs: 0 };

interface PodFailure {
  readonly pod: Pod;
  readonly failure: AttemptFailure;
  readonly at: number;
}

export interface JobPods {
  readonly operator: Operator;
  readonly pods: readonly Pod[];
  /** Failed pods that the operator has deleted, in the order of the failures. */
  readonly replaced: readonly Pod[];
}

/**
 * Adds to an operator's failure the end of the pod that failed first, since operators report
 * neither exit codes nor kills. A kill for lack of memory, or by the node, replaces the code and
 * the kind of the failure. A failure of the system may be the kill of a pod that the operator has
 * replaced.
 */
export function explainFailure(
  failure: PermanentFailure | RetryableFailure,
  { operator, pods, replaced }: JobPods,
): PermanentFailure | RetryableFailure {
  if (!failure.recoverable) return failure;
  const failuresOf = (some: readonly Pod[]) => some.filter((pod) => operator.decides(pod)).flatMap(failureOf);
  const lost = failure.details.kind === "SYSTEM" ? failuresOf(replaced).findLast(isKill) : undefined;
  const cause = lost ?? failuresOf(pods).toSorted((a, b) => a.at - b.at)[0];
  if (cause === undefined) return failure;
  const { code, kind } = cause.failure.details;
  const message = `${failure.message}\n${cause.pod.metadata.name}: ${cause.failure.message.trim()}`;
  return new RetryableFailure({ ...failure.details, message, ...(isKill(cause) ? { code, kind } : {}) });
}

function isKill({ failure: { details } }: PodFailure): boolean {
  return details.code === OOM_KILLED || details.kind === "SYSTEM";
}

function failureOf(pod: Pod): PodFailure[] {
  const killedAt = oomKilledAt(pod);
  if (pod.status?.phase !== "Failed") {
    if (killedAt === undefined) return [];
    const failure = new RetryableFailure({ code: OOM_KILLED, kind: "USER", message: `a container was killed: ${OOM_KILLED}` });
    return [{ pod, failure, at: killedAt }];
  }
  // Pods that are deleted after the end fail as well, so their failure explains nothing.
  if (pod.metadata.deletionTimestamp !== undefined) return [];
  const state = derivePodState(pod, { gracePeriods: NO_GRACE, now: new Date(0) });
  return state.kind === "failed" ? [{ pod, failure: state.failure, at: state.occurredAt.getTime() }] : [];
}

/** Time at which a container that has started again was killed for lack of memory, ms. */
function oomKilledAt({ status }: Pod): number | undefined {
  const killed = (status?.containerStatuses ?? [])
    .map(({ lastState }) => lastState?.terminated)
    .find((terminated: ContainerState["terminated"]) => terminated?.reason === OOM_KILLED);
  return killed === undefined ? undefined : (parseTime(killed.finishedAt)?.getTime() ?? 0);
}
