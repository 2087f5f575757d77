import { parseTime } from "@flyte-ts/pod-task";
import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { Job, JobState } from "../operator.js";

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

interface KubeflowStatus {
  readonly conditions?: readonly Condition[];
  readonly startTime?: string;
  readonly completionTime?: string;
}

/**
 * Derives the state of a job from its conditions. Their times have whole seconds, so of several
 * true ones the furthest counts, not the latest.
 */
export function kubeflowStatus(job: Job): JobState {
  const { conditions = [], startTime, completionTime } = (job.status ?? {}) as KubeflowStatus;
  const condition = (type: string) => conditions.find((each) => each.type === type && each.status === "True");
  const failed = condition("Failed");
  const endedAt = parseTime(completionTime);
  if (failed !== undefined) {
    const message = `Job failed:\n\t${failed.reason ?? ""} - ${failed.message ?? ""}`;
    return { kind: "failed", failure: new RetryableFailure({ code: "DownstreamSystemError", kind: "USER", message }), endedAt };
  }
  if (condition("Succeeded") !== undefined) return { kind: "succeeded", endedAt };
  if (condition("Suspended") !== undefined) return { kind: "progress", phase: "QUEUED", reason: "Suspended" };
  if (condition("Restarting") !== undefined || condition("Running") !== undefined) return { kind: "progress", phase: "RUNNING" };
  const unobserved = startTime === undefined && conditions.length === 0;
  return { kind: "progress", phase: "QUEUED", reason: "JobCreated", unobserved };
}
