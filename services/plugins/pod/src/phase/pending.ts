import { goDuration } from "@flyte-ts/domain";
import { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import type { ContainerStatus, Pod, PodCondition } from "../kube/pod-types.js";
import type { Decision, GracePeriods } from "./decision.js";
import { parseTime } from "./pod-times.js";

/** Derives why a pod does not run yet, and whether it never will (contract §6.4). */
export function decidePending(pod: Pod, graces: GracePeriods, now: Date): Decision {
  const conditions = pod.status?.conditions ?? [];
  const scheduled = conditions.find(({ type, status }) => type === "PodScheduled" && status === "False");
  const unready = conditions.find(({ type, status }) => type === "Ready" && status === "False");
  const condition = scheduled ?? unready;
  const since = parseTime(condition?.lastTransitionTime) ?? parseTime(pod.metadata.creationTimestamp) ?? now;
  let decision: Decision = { kind: "waiting" };
  if (scheduled !== undefined) {
    decision = { kind: "progress", phase: "QUEUED", reason: `${scheduled.reason ?? ""}:${scheduled.message ?? ""}`, occurredAt: since };
  } else if (unready !== undefined) {
    const waiting = waitingContainer(pod);
    if (waiting !== undefined) decision = decideWaiting(waiting, { condition: unready, since, graces, now });
  }
  return withPendingTimeout(decision, { since, now, limitMs: graces.podPendingMs });
}

/** The first waiting container; init containers come first, since the others wait for them. */
function waitingContainer({ status }: Pod): ContainerStatus | undefined {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(
    ({ ready, state }) => ready !== true && state?.waiting !== undefined,
  );
}

interface Wait {
  readonly condition: PodCondition;
  readonly since: Date;
  readonly graces: GracePeriods;
  readonly now: Date;
}

function decideWaiting({ state }: ContainerStatus, { condition, since, graces, now }: Wait): Decision {
  const waiting = state?.waiting ?? {};
  const code = `${condition.reason ?? ""}|${waiting.reason ?? ""}`;
  const message = `${condition.message ?? ""}|${waiting.message ?? ""}`;
  const initializing = { kind: "progress", phase: "INITIALIZING", reason: `[${code}]: ${message}`, occurredAt: since } as const;
  const after = (graceMs: number, failure: (message: string) => PermanentFailure | RetryableFailure): Decision => {
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
      return after(graces.createContainerErrorMs, permanent);
    case "CreateContainerConfigError":
      return after(graces.createContainerConfigErrorMs, permanent);
    case "ImagePullBackOff":
      return after(graces.imagePullBackOffMs, (text) => new RetryableFailure({ code, message: text, kind: "USER", cleanup: true }));
    case "InvalidImageName":
      return { kind: "failed", failure: permanent(message), occurredAt: since };
    default:
      return { kind: "failed", failure: new RetryableFailure({ code, message, kind: "SYSTEM", cleanup: true }), occurredAt: since };
  }
}

function withPendingTimeout(decision: Decision, { since, now, limitMs }: { since: Date; now: Date; limitMs: number }): Decision {
  if (limitMs <= 0 || decision.kind === "failed" || decision.kind === "succeeded") return decision;
  const end = new Date(since.getTime() + limitMs);
  const reason = decision.kind === "progress" ? (decision.reason ?? "") : "";
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
  const progress = decision.kind === "progress" ? decision : ({ kind: "progress", phase: "QUEUED", occurredAt: since } as const);
  const recheckAt = "recheckAt" in progress && progress.recheckAt !== undefined && progress.recheckAt < end ? progress.recheckAt : end;
  return { ...progress, recheckAt };
}

/** Formats whole seconds as Go does: 3m0s, 30s, 0s. */
function duration(ms: number): string {
  return goDuration(BigInt(Math.round(ms / 1_000)) * 1_000_000_000n);
}
