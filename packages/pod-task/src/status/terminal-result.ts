import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { ContainerState, ContainerStatus, Pod } from "../pod-types.js";
import { disruptionReason } from "./disruption.js";

/** The name in Kubernetes and Flyte. */
export const OOM_KILLED = "OOMKilled";

/** Result of a pod or its primary container. */
export type TerminalResult = "succeeded" | RetryableFailure;

type Terminated = NonNullable<ContainerState["terminated"]>;

// The node shut down or rejected the pod: not the task's fault.
const NODE_SHUTDOWN_REASONS: ReadonlySet<string> = new Set(["Shutdown", "Terminated", "NodeShutdown", "NodeAffinity"]);
// The node needed the pod's place for another, or ran out of a resource.
const EVICTION_REASONS: ReadonlySet<string> = new Set(["Evicted", "Preempting"]);
// 128 + SIGKILL, and 256 − SIGKILL where it was read as a signed byte.
const SIGKILL_EXIT_CODES: ReadonlySet<number> = new Set([137, 247]);

const INTERRUPTED = "Interrupted";

/** Result of the primary container; undefined before its end. */
export function primaryContainerResult(pod: Pod, primary: string): TerminalResult | undefined {
  const container = pod.status?.containerStatuses?.find(({ name }) => name === primary);
  const terminated = container?.state?.terminated;
  if (terminated === undefined) return undefined;
  if (isOomKilled(terminated)) return oomFailure(describeTermination(primary, terminated));
  if (terminated.exitCode === 0) return "succeeded";
  return nodeFailure(pod, describeTermination(primary, terminated)) ?? containerFailure(primary, terminated);
}

/** Result of a pod of phase Succeeded. */
export function succeededPodResult(pod: Pod): TerminalResult {
  const oom = allStatuses(pod).some(({ state }) => state?.terminated !== undefined && isOomKilled(state.terminated));
  return oom ? oomFailure(`Pod reported success despite being ${OOM_KILLED}`) : "succeeded";
}

/** Result of a pod of phase Failed. */
export function failedPodResult(pod: Pod, primary: string | undefined): RetryableFailure {
  const terminations = allStatuses(pod).flatMap((status) => {
    const terminated = status.lastState?.terminated ?? status.state?.terminated;
    return terminated === undefined ? [] : [{ name: status.name, terminated }];
  });
  const details = terminations.map(({ name, terminated }) => describeTermination(name, terminated)).join("");
  const causedByNode = nodeFailure(pod, details);
  if (causedByNode !== undefined) return causedByNode;
  const text = `${pod.status?.message ?? ""}${details}` || "Pod failed. No message received from kubernetes.";
  if (terminations.some(({ terminated }) => isOomKilled(terminated))) return oomFailure(text);
  const failedContainers = terminations.filter(({ terminated }) => terminated.exitCode !== 0);
  const killed = failedContainers.find(
    ({ name, terminated }) => SIGKILL_EXIT_CODES.has(terminated.exitCode) && (primary === undefined || name === primary),
  );
  if (killed !== undefined) return interruptedFailure(text);
  const reason = pod.status?.reason ?? "";
  if (reason !== "") return new RetryableFailure({ code: reason, message: text, kind: "USER" });
  const failedContainer = failedContainers.find(({ name }) => name === primary) ?? failedContainers[0];
  if (failedContainer !== undefined)
    return new RetryableFailure({ code: failedContainer.terminated.reason || "Error", message: text, kind: "USER" });
  // Kubernetes could not record the reason: probably the node's failure.
  return interruptedFailure(text);
}

function containerFailure(name: string, terminated: Terminated): RetryableFailure {
  const message = describeTermination(name, terminated);
  if (SIGKILL_EXIT_CODES.has(terminated.exitCode)) return interruptedFailure(message);
  return new RetryableFailure({ code: terminated.reason || "Error", message, kind: "USER" });
}

function nodeFailure({ status }: Pod, details: string): RetryableFailure | undefined {
  const reason = status?.reason ?? "";
  const message = `${status?.message || reason}${details}`;
  if (NODE_SHUTDOWN_REASONS.has(reason)) return interruptedFailure(message);
  if (EVICTION_REASONS.has(reason)) return new RetryableFailure({ code: reason, message, kind: "SYSTEM" });
  const disruption = disruptionReason(status);
  return disruption === undefined ? undefined : interruptedFailure(`${disruption}${details}`);
}

function interruptedFailure(message: string): RetryableFailure {
  return new RetryableFailure({ code: INTERRUPTED, message, kind: "SYSTEM" });
}

function oomFailure(message: string): RetryableFailure {
  return new RetryableFailure({ code: OOM_KILLED, message, kind: "USER" });
}

function isOomKilled({ reason }: Terminated): boolean {
  return reason?.includes(OOM_KILLED) ?? false;
}

/** Formats the end as Flyte's users know it, with the tail of the log that Kubernetes keeps. */
function describeTermination(name: string, { exitCode, reason = "", message = "" }: Terminated): string {
  // The container's first process succeeded, but a child of it did not.
  if (exitCode === 0)
    return `\r\n[${name}] terminated with ExitCode 0.${reason.includes(OOM_KILLED) ? ` A process in it was killed: ${OOM_KILLED}.` : ""}`;
  return `\r\n[${name}] terminated with exit code (${exitCode}). Reason [${reason}]. Message: \n${message}.`;
}

function allStatuses({ status }: Pod): ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? []), ...(status?.ephemeralContainerStatuses ?? [])];
}
