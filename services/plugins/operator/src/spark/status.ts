import { parseTime } from "@flyte-ts/pod-task";
import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { Job, JobState } from "../operator.js";

export interface SparkStatus {
  readonly applicationState?: { readonly state?: string; readonly errorMessage?: string };
  readonly driverInfo?: { readonly webUIIngressAddress?: string; readonly podName?: string };
  readonly sparkApplicationId?: string;
  readonly terminationTime?: string | null;
}

export function sparkStatusOf(job: Job): SparkStatus {
  return (job.status ?? {}) as SparkStatus;
}

/**
 * Derives the state of an application. A failed submission is not terminal: the operator retries it
 * and reports FAILED when it gives up.
 */
export function sparkStatus(job: Job): JobState {
  const { applicationState, terminationTime } = sparkStatusOf(job);
  const { state = "", errorMessage = "" } = applicationState ?? {};
  const endedAt = parseTime(terminationTime);
  switch (state) {
    case "":
      return { kind: "progress", phase: "QUEUED", reason: "job queued", unobserved: true };
    case "NEW":
    case "SUSPENDED":
      return { kind: "progress", phase: "QUEUED", reason: state.toLowerCase() };
    case "SUBMITTED":
      return { kind: "progress", phase: "INITIALIZING", reason: "job submitted" };
    case "SUBMISSION_FAILED":
      return { kind: "progress", phase: "INITIALIZING", reason: `the submission failed and is repeated: ${errorMessage}` };
    case "PENDING_RERUN":
      return { kind: "progress", phase: "INITIALIZING", reason: "the job will run again" };
    case "COMPLETED":
      return { kind: "succeeded", endedAt };
    case "FAILED": {
      const message = `Spark Job Failed with Error: ${errorMessage}`;
      return { kind: "failed", failure: new RetryableFailure({ code: "DownstreamSystemError", kind: "USER", message }), endedAt };
    }
    default:
      return { kind: "progress", phase: "RUNNING" };
  }
}
