import { derivePodState, type GracePeriods, joinReasons, type Pod, type PodState } from "@flyte-ts/pod-task";
import type { WarningOf } from "@flyte-ts/pod-task/warnings";
import { type AttemptFailure, PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";

/** Pods that do not run yet. */
export interface PendingPods {
  /** Why the first of them waits, with its name. */
  readonly reason?: string;
  /** True: a node prepares one of them. */
  readonly initializing: boolean;
  /** Failure of a pod that will never start. */
  readonly failure?: PermanentFailure | RetryableFailure;
  readonly recheckAt?: Date;
}

interface Waiting {
  readonly pod: Pod;
  readonly state: PodState;
  readonly warning: string | undefined;
}

interface PendingOptions {
  readonly gracePeriods: GracePeriods;
  readonly now: Date;
  readonly warningOf?: WarningOf | undefined;
}

/**
 * Suffix of a failure that does not count for a job: the container may be waiting for another pod
 * and start later.
 */
const CRASH_LOOP = "CrashLoopBackOff";

/**
 * Derives what the pods that have not started say about their job, by the rules for single pods.
 */
export function summarizePending(pods: readonly Pod[], { gracePeriods, now, warningOf }: PendingOptions): PendingPods {
  const waiting = pods
    .filter(isPending)
    .map((pod) => ({ pod, state: derivePodState(pod, { gracePeriods, now }), warning: warningOf?.(pod.metadata.uid) }));
  const failed = waiting.find(({ state }) => state.kind === "failed" && !isCrashLoop(state.failure));
  const withReason = waiting.filter((each) => reasonOf(each) !== undefined);
  const rechecks = waiting.flatMap(({ state }) => (state.kind === "progress" && state.recheckAt !== undefined ? [state.recheckAt] : []));
  const recheckAt = rechecks.toSorted((a, b) => a.getTime() - b.getTime())[0];
  const [first] = withReason;
  return {
    initializing: waiting.some(({ state }) => state.kind === "progress" && state.phase === "INITIALIZING"),
    ...(first === undefined ? {} : { reason: reasonText(first, withReason.length - 1) }),
    ...(failed?.state.kind === "failed" ? { failure: ofPod(failed.state.failure, failed.pod) } : {}),
    ...(recheckAt === undefined ? {} : { recheckAt }),
  };
}

/** A pod that is being deleted is left to its operator. */
function isPending({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && (status?.phase === undefined || status.phase === "Pending");
}

function isCrashLoop({ details }: AttemptFailure): boolean {
  return details.code.endsWith(CRASH_LOOP);
}

function reasonOf({ state, warning }: Waiting): string | undefined {
  if (state.kind === "waiting") return warning;
  if (state.kind === "progress") return joinReasons(state.reason, warning);
  return state.kind === "failed" ? `[${state.failure.details.code}]: ${state.failure.message}` : undefined;
}

function reasonText(first: Waiting, others: number): string {
  const more = others === 0 ? "" : `; ${others} more ${others === 1 ? "pod waits" : "pods wait"}`;
  return `${first.pod.metadata.name}: ${reasonOf(first) ?? ""}${more}`;
}

/** Names the pod in the failure and requests the removal of the job before a retry. */
function ofPod(failure: PermanentFailure | RetryableFailure, { metadata }: Pod): PermanentFailure | RetryableFailure {
  const details = { ...failure.details, message: `${metadata.name}: ${failure.message}`, cleanup: true };
  return failure.recoverable ? new RetryableFailure(details) : new PermanentFailure(details);
}
