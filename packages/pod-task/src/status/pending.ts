import { goDuration } from "@flyte-ts/domain/duration";
import { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import type { ContainerStatus, Pod, PodCondition } from "../pod-types.js";
import type { PodState, GracePeriods } from "./pod-state.js";
import { parseTime } from "./pod-times.js";

/** Derives why a pod does not run yet, and whether it never will. */
export function pendingState(pod: Pod, gracePeriods: GracePeriods, now: Date): PodState {
  const conditions = pod.status?.conditions ?? [];
  const scheduled = conditions.find(({ type, status }) => type === "PodScheduled" && status === "False");
  const notReady = conditions.find(({ type, status }) => type === "Ready" && status === "False");
  const condition = scheduled ?? notReady;
  const since = parseTime(condition?.lastTransitionTime) ?? parseTime(pod.metadata.creationTimestamp) ?? now;
  let state: PodState = { kind: "waiting" };
  if (scheduled !== undefined) {
    state = { kind: "progress", phase: "QUEUED", reason: `${scheduled.reason ?? ""}:${scheduled.message ?? ""}`, occurredAt: since };
  } else if (notReady !== undefined) {
    const waiting = waitingContainer(pod);
    if (waiting !== undefined) state = waitingState(waiting, { condition: notReady, since, gracePeriods, now });
  }
  return withPendingTimeout(state, { since, now, limitMs: gracePeriods.podPendingMs });
}

/** The first waiting container; init containers come first, since the others wait for them. */
function waitingContainer({ status }: Pod): ContainerStatus | undefined {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(
    ({ ready, state }) => ready !== true && state?.waiting !== undefined,
  );
}

interface WaitingContext {
  readonly condition: PodCondition;
  readonly since: Date;
  readonly gracePeriods: GracePeriods;
  readonly now: Date;
}

function waitingState({ state }: ContainerStatus, { condition, since, gracePeriods, now }: WaitingContext): PodState {
  const waiting = state?.waiting ?? {};
  const code = `${condition.reason ?? ""}|${waiting.reason ?? ""}`;
  const message = `${condition.message ?? ""}|${waiting.message ?? ""}`;
  const initializing = { kind: "progress", phase: "INITIALIZING", reason: `[${code}]: ${message}`, occurredAt: since } as const;
  const failAfterGrace = (graceMs: number, failure: (message: string) => PermanentFailure | RetryableFailure): PodState => {
    const end = new Date(since.getTime() + graceMs);
    if (now < end) return { ...initializing, recheckAt: end };
    return { kind: "failed", failure: failure(`Grace period [${duration(graceMs)}] exceeded|${message}`), occurredAt: since };
  };
  const permanent = (text: string) => new PermanentFailure({ code, message: text, kind: "USER", cleanup: true });
  switch (waiting.reason) {
    case "ErrImagePull":
    case "ContainerCreating":
    case "PodInitializing":
    case "":
    case undefined:
      return initializing;
    case "CreateContainerError":
      return failAfterGrace(gracePeriods.createContainerErrorMs, permanent);
    case "CreateContainerConfigError":
      return failAfterGrace(gracePeriods.createContainerConfigErrorMs, permanent);
    case "ImagePullBackOff":
      return failAfterGrace(
        gracePeriods.imagePullBackOffMs,
        (text) => new RetryableFailure({ code, message: text, kind: "USER", cleanup: true }),
      );
    case "InvalidImageName":
      return { kind: "failed", failure: permanent(message), occurredAt: since };
    default:
      return { kind: "failed", failure: new RetryableFailure({ code, message, kind: "SYSTEM", cleanup: true }), occurredAt: since };
  }
}

function withPendingTimeout(state: PodState, { since, now, limitMs }: { since: Date; now: Date; limitMs: number }): PodState {
  if (limitMs <= 0 || state.kind === "failed" || state.kind === "succeeded") return state;
  const end = new Date(since.getTime() + limitMs);
  const reason = state.kind === "progress" ? (state.reason ?? "") : "";
  if (now >= end) {
    const failure = new RetryableFailure({
      code: "PodPendingTimeout",
      message: reason || "the pod is pending",
      // A lack of capacity is not the author's fault (Go Flyte uses the author's retries).
      kind: "SYSTEM",
      cleanup: true,
    });
    return { kind: "failed", failure, occurredAt: since };
  }
  const progress = state.kind === "progress" ? state : ({ kind: "progress", phase: "QUEUED", occurredAt: since } as const);
  const recheckAt = "recheckAt" in progress && progress.recheckAt !== undefined && progress.recheckAt < end ? progress.recheckAt : end;
  return { ...progress, recheckAt };
}

/** Formats whole seconds as Go does: 3m0s, 30s, 0s. */
function duration(ms: number): string {
  return goDuration(BigInt(Math.round(ms / 1_000)) * 1_000_000_000n);
}
