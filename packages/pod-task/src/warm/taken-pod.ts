import type { KubeObject } from "@flyte-ts/kubernetes";
import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { ContainerState, Pod } from "../pod-types.js";
import { parseTime } from "../status/pod-times.js";
import { WARM_KEY_LABEL, WARM_TAKEN_ANNOTATION } from "./names.js";
import { WARM_IDLE_EXIT_CODE, WARM_IDLE_MESSAGE } from "./supervisor.js";

/** True for a pod of the pool that no attempt has taken. */
export function isIdleWarmPod({ metadata }: KubeObject): boolean {
  return metadata.labels?.[WARM_KEY_LABEL] !== undefined && metadata.annotations?.[WARM_TAKEN_ANNOTATION] === undefined;
}

/**
 * Time at which an attempt took this very pod; undefined for other pods, and for copied
 * annotations.
 */
export function takenAt({ metadata }: KubeObject): Date | undefined {
  const [uid, time] = metadata.annotations?.[WARM_TAKEN_ANNOTATION]?.split(" ") ?? [];
  return uid !== undefined && uid === metadata.uid ? parseTime(time) : undefined;
}

/**
 * Shows a taken pod from the view of its attempt: nothing of it happened before the attempt took
 * it. Other pods stay as they are.
 */
export function asAttemptPod(pod: Pod): Pod {
  const since = takenAt(pod);
  if (since === undefined) return pod;
  const later = (time: string | undefined) => {
    const known = parseTime(time);
    return known === undefined || known < since ? since.toISOString() : time;
  };
  const { creationTimestamp } = pod.metadata;
  const containerStatuses = pod.status?.containerStatuses?.map(({ state, ...status }) => ({
    ...status,
    ...(state === undefined ? {} : { state: shiftedState(state, later) }),
  }));
  return {
    ...pod,
    metadata: { ...pod.metadata, ...(creationTimestamp === undefined ? {} : { creationTimestamp: later(creationTimestamp) as string }) },
    ...(pod.status === undefined ? {} : { status: { ...pod.status, ...(containerStatuses === undefined ? {} : { containerStatuses }) } }),
  };
}

type Terminated = NonNullable<ContainerState["terminated"]>;
type Shift = (time: string | undefined) => string | undefined;

function shiftedState({ waiting, running, terminated }: ContainerState, later: Shift): ContainerState {
  const startedAt = (time: string | undefined) => {
    const start = later(time);
    return start === undefined ? {} : { startedAt: start };
  };
  return {
    ...(waiting === undefined ? {} : { waiting }),
    ...(running === undefined ? {} : { running: { ...running, ...startedAt(running.startedAt) } }),
    ...(terminated === undefined ? {} : { terminated: shiftedEnd(terminated, later) }),
  };
}

/** Kubelets tell whole seconds, so that an end may seem earlier than its start. */
function shiftedEnd(terminated: Terminated, later: Shift): Terminated {
  const { startedAt, finishedAt } = terminated;
  return { ...terminated, startedAt: later(startedAt) ?? "", ...(finishedAt === undefined ? {} : { finishedAt: later(finishedAt) ?? "" }) };
}

/**
 * Failure of a taken pod whose supervisor ended before it read the assignment: it had waited for
 * too long, or the pod was stopped. Nothing of the attempt has run.
 */
export function endedUnassigned(pod: Pod): RetryableFailure | undefined {
  if (takenAt(pod) === undefined) return undefined;
  const ended = pod.status?.containerStatuses?.some(
    ({ state }) => state?.terminated?.exitCode === WARM_IDLE_EXIT_CODE && state.terminated.message?.trim() === WARM_IDLE_MESSAGE,
  );
  return ended === true ? new RetryableFailure({ code: "WarmPodEnded", kind: "SYSTEM", message: WARM_IDLE_MESSAGE }) : undefined;
}
