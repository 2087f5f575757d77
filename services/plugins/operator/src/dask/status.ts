import { type Pod, parseTime } from "@flyte-ts/pod-task";
import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { Job, JobState } from "../operator.js";

export const COMPONENT_LABEL = "dask.org/component";

interface DaskStatus {
  readonly jobStatus?: string;
  readonly endTime?: string;
}

/**
 * Derives the state of a DaskJob. The end of the runner's pod counts too, since the operator does
 * not record the end of a job whose cluster was deleted before.
 */
export function daskStatus(job: Job, pods: readonly Pod[]): JobState {
  const { jobStatus = "", endTime } = (job.status ?? {}) as DaskStatus;
  const runner = pods.find(isRunner);
  const endedAt = parseTime(endTime);
  if (jobStatus === "Successful" || runner?.status?.phase === "Succeeded") return { kind: "succeeded", endedAt };
  if (jobStatus === "Failed" || runner?.status?.phase === "Failed") {
    const failure = new RetryableFailure({ code: "DownstreamSystemError", kind: "USER", message: "Dask Job failed" });
    return { kind: "failed", failure, endedAt };
  }
  switch (jobStatus) {
    case "":
      return { kind: "progress", phase: "INITIALIZING", reason: "unknown", unobserved: true };
    case "JobCreated":
      return { kind: "progress", phase: "INITIALIZING", reason: "job created" };
    case "ClusterCreated":
      return { kind: "progress", phase: "INITIALIZING", reason: "cluster created" };
    default:
      return { kind: "progress", phase: "RUNNING" };
  }
}

/** True for the pod that runs the task's own process. */
export function isRunner({ metadata: { labels } }: Pod): boolean {
  return labels?.[COMPONENT_LABEL] === "job-runner";
}
