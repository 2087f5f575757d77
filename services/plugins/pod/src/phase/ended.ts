import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { ContainerState, ContainerStatus, Pod } from "../kube/pod-types.js";
import { disruption } from "./disruption.js";

/** The name in Kubernetes and Flyte. */
export const OOM = "OOMKilled";

/** Result of a pod or its primary container. */
export type Ending = "succeeded" | RetryableFailure;

type Terminated = NonNullable<ContainerState["terminated"]>;

// The node went away or refused the pod: not the task's fault.
const INTERRUPTIONS: ReadonlySet<string> = new Set(["Shutdown", "Terminated", "NodeShutdown", "NodeAffinity"]);
// The node needed the pod's place for another, or ran out of a resource.
const EVICTIONS: ReadonlySet<string> = new Set(["Evicted", "Preempting"]);
// 128 + SIGKILL, and 256 − SIGKILL where it was read as a signed byte.
const KILLED: ReadonlySet<number> = new Set([137, 247]);

const INTERRUPTED = "Interrupted";

/** Result of the primary container; undefined before its end. */
export function primaryEnding(pod: Pod, primary: string): Ending | undefined {
  const container = pod.status?.containerStatuses?.find(({ name }) => name === primary);
  const terminated = container?.state?.terminated;
  if (terminated === undefined) return undefined;
  if (isOutOfMemory(terminated)) return outOfMemory(describe(primary, terminated));
  if (terminated.exitCode === 0) return "succeeded";
  return nodesDoing(pod, describe(primary, terminated)) ?? ofContainer(primary, terminated);
}

/** Result of a pod of phase Succeeded. */
export function succeededEnding(pod: Pod): Ending {
  const oom = allStatuses(pod).some(({ state }) => state?.terminated !== undefined && isOutOfMemory(state.terminated));
  return oom ? outOfMemory(`Pod reported success despite being ${OOM}`) : "succeeded";
}

/** Result of a pod of phase Failed. */
export function failedEnding(pod: Pod, primary: string | undefined): RetryableFailure {
  const ends = allStatuses(pod).flatMap((status) => {
    const terminated = status.lastState?.terminated ?? status.state?.terminated;
    return terminated === undefined ? [] : [{ name: status.name, terminated }];
  });
  const details = ends.map(({ name, terminated }) => describe(name, terminated)).join("");
  const byNode = nodesDoing(pod, details);
  if (byNode !== undefined) return byNode;
  const text = `${pod.status?.message ?? ""}${details}` || "Pod failed. No message received from kubernetes.";
  if (ends.some(({ terminated }) => isOutOfMemory(terminated))) return outOfMemory(text);
  const culprits = ends.filter(({ terminated }) => terminated.exitCode !== 0);
  const killed = culprits.find(({ name, terminated }) => KILLED.has(terminated.exitCode) && (primary === undefined || name === primary));
  if (killed !== undefined) return interrupted(text);
  const reason = pod.status?.reason ?? "";
  if (reason !== "") return new RetryableFailure({ code: reason, message: text, kind: "USER" });
  const culprit = culprits.find(({ name }) => name === primary) ?? culprits[0];
  if (culprit !== undefined) return new RetryableFailure({ code: culprit.terminated.reason || "Error", message: text, kind: "USER" });
  // Kubernetes could not record the reason: probably the node's failure.
  return interrupted(text);
}

function ofContainer(name: string, terminated: Terminated): RetryableFailure {
  const message = describe(name, terminated);
  if (KILLED.has(terminated.exitCode)) return interrupted(message);
  return new RetryableFailure({ code: terminated.reason || "Error", message, kind: "USER" });
}

function nodesDoing({ status }: Pod, details: string): RetryableFailure | undefined {
  const reason = status?.reason ?? "";
  const message = `${status?.message || reason}${details}`;
  if (INTERRUPTIONS.has(reason)) return interrupted(message);
  if (EVICTIONS.has(reason)) return new RetryableFailure({ code: reason, message, kind: "SYSTEM" });
  const why = disruption(status);
  return why === undefined ? undefined : interrupted(`${why}${details}`);
}

function interrupted(message: string): RetryableFailure {
  return new RetryableFailure({ code: INTERRUPTED, message, kind: "SYSTEM" });
}

function outOfMemory(message: string): RetryableFailure {
  return new RetryableFailure({ code: OOM, message, kind: "USER" });
}

function isOutOfMemory({ reason }: Terminated): boolean {
  return reason?.includes(OOM) ?? false;
}

/** Formats the end as Flyte's users know it, with the tail of the log that Kubernetes keeps. */
function describe(name: string, { exitCode, reason = "", message = "" }: Terminated): string {
  // The container's first process succeeded, but a child of it did not.
  if (exitCode === 0)
    return `\r\n[${name}] terminated with ExitCode 0.${reason.includes(OOM) ? ` A process in it was killed: ${OOM}.` : ""}`;
  return `\r\n[${name}] terminated with exit code (${exitCode}). Reason [${reason}]. Message: \n${message}.`;
}

function allStatuses({ status }: Pod): ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? []), ...(status?.ephemeralContainerStatuses ?? [])];
}
