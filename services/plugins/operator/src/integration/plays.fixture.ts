import type { Pod } from "@flyte-ts/pod-task";
import type { Attempt } from "./attempt.fixture.js";
import { failed, running, succeeded } from "./pod-status.fixture.js";

/** True for pods whose programs end with the task: not Dask's scheduler and workers. */
function isProgram({ metadata: { labels = {} } }: Pod): boolean {
  const component = labels["dask.org/component"];
  return component === undefined || component === "job-runner";
}

/** All pods run. */
export function playRunning(attempt: Attempt): void {
  attempt.play(running);
}

/** The task's programs end well. */
export function playSuccess(attempt: Attempt): void {
  attempt.play((pod) => (isProgram(pod) ? succeeded(pod) : running(pod)));
}

/** The task's programs end with status 1. */
export function playFailure(attempt: Attempt): void {
  attempt.play((pod) => (isProgram(pod) ? failed(pod, 1) : running(pod)));
}

/** The kernel kills the task's programs for their memory. */
export function playOutOfMemory(attempt: Attempt): void {
  attempt.play((pod) => (isProgram(pod) ? failed(pod, 137, "OOMKilled") : running(pod)));
}
