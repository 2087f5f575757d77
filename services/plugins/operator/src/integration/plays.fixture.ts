import type { Pod } from "@flyte-ts/pod-task";
import type { Attempt } from "./attempt.fixture.js";
import { failed, running, succeeded } from "./pod-status.fixture.js";

const RAY_NODE = "ray.io/node-type";

/**
 * True for pods whose programs end with the task: not Ray's nodes, nor Dask's scheduler and
 * workers.
 */
function isProgram({ metadata: { labels = {} } }: Pod): boolean {
  const component = labels["dask.org/component"];
  return labels[RAY_NODE] === undefined && (component === undefined || component === "job-runner");
}

/** All pods run. */
export function playRunning(attempt: Attempt): void {
  attempt.report("RUNNING");
  attempt.play(running);
}

/** The task's programs end well. */
export function playSuccess(attempt: Attempt): void {
  attempt.report("SUCCEEDED");
  attempt.play((pod) => (isProgram(pod) ? succeeded(pod) : running(pod)));
}

/**
 * The task's programs end with status 1. Ray's submitter follows the program, and itself ends well.
 */
export function playFailure(attempt: Attempt): void {
  attempt.report("FAILED");
  const end = attempt.operator.taskType === "ray" ? succeeded : (pod: Pod) => failed(pod, 1);
  attempt.play((pod) => (isProgram(pod) ? end(pod) : running(pod)));
}

/** The kernel kills the task's programs for their memory; for Ray the head, with its job. */
export function playOutOfMemory(attempt: Attempt): void {
  if (attempt.operator.taskType === "ray") playLostHead(attempt, "OOMKilled");
  else attempt.play((pod) => (isProgram(pod) ? failed(pod, 137, "OOMKilled") : running(pod)));
}

/** The head of a Ray cluster ends. KubeRay replaces it; the new one does not know the job. */
export function playLostHead(attempt: Attempt, reason: string): void {
  let lost: string | undefined;
  attempt.report(undefined);
  attempt.play((pod) => {
    const { labels, uid } = pod.metadata;
    if (labels?.[RAY_NODE] !== "head") return isProgram(pod) ? succeeded(pod) : running(pod);
    lost ??= uid;
    return uid === lost ? failed(pod, 137, reason) : running(pod);
  });
}
