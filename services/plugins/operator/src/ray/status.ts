import { parseTime } from "@flyte-ts/pod-task";
import { type FailureKind, PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import type { Job, JobState } from "../operator.js";

export interface RayStatus {
  readonly jobDeploymentStatus?: string;
  readonly jobStatus?: string;
  readonly jobId?: string;
  readonly rayClusterName?: string;
  readonly dashboardURL?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly endTime?: string;
}

export function rayStatusOf(job: Job): RayStatus {
  return (job.status ?? {}) as RayStatus;
}

/**
 * Derives the state of a RayJob. The success of Ray's own job takes precedence over the end of the
 * resource, which waits for the submitter. A failure does not: until the resource has ended,
 * KubeRay replaces a cluster that is deleted, and the submitter submits the job to the new one.
 * Other values of `jobStatus` are ignored: KubeRay copies error documents of the API server there.
 */
export function rayStatus(job: Job): JobState {
  const status = rayStatusOf(job);
  const endedAt = parseTime(status.endTime);
  switch (status.jobDeploymentStatus ?? "") {
    case "Complete":
      if (status.jobStatus === "STOPPED") return { kind: "failed", failure: failure(job, { ...status, reason: "AppFailed" }), endedAt };
      return { kind: "succeeded", endedAt };
    case "Failed":
      return { kind: "failed", failure: failure(job, status), endedAt };
    case "ValidationFailed": {
      const message = `the Ray operator refused the job: ${status.message ?? status.reason ?? ""}`;
      return { kind: "failed", failure: new PermanentFailure({ code: "BadTaskSpecification", message }), endedAt };
    }
  }
  switch (status.jobStatus ?? "") {
    case "SUCCEEDED":
      return { kind: "succeeded", endedAt };
    case "FAILED":
    case "STOPPED":
      return { kind: "progress", phase: "RUNNING", reason: `the Ray job has ended as ${status.jobStatus}; its submitter still runs` };
    default:
      return progress(status);
  }
}

function progress({ jobDeploymentStatus: status = "" }: RayStatus): JobState {
  switch (status) {
    case "":
      return { kind: "progress", phase: "QUEUED", reason: "Scheduling", unobserved: true };
    case "Running":
      return { kind: "progress", phase: "RUNNING" };
    case "Suspended":
    case "Suspending":
      return { kind: "progress", phase: "QUEUED", reason: status };
    case "Initializing":
      return { kind: "progress", phase: "INITIALIZING", reason: "cluster is creating" };
    default:
      return { kind: "progress", phase: "INITIALIZING", reason: status };
  }
}

/** Ends of Ray's own job that are not a success. */
const FAILED_JOBS: ReadonlySet<string> = new Set(["FAILED", "STOPPED"]);

/**
 * A failure is the user's when the task's own process failed, and the system's otherwise. KubeRay
 * also says AppFailed of a job that was lost with its head; Ray has then reported no end.
 */
function failure({ metadata }: Job, { jobStatus = "", reason = "", message = "" }: RayStatus): PermanentFailure | RetryableFailure {
  const kind: FailureKind = reason === "AppFailed" && FAILED_JOBS.has(jobStatus) ? "USER" : "SYSTEM";
  const text = `Failed to run Ray job ${metadata.name} with error: [${reason}] ${message}`;
  if (reason === "ValidationFailed") return new PermanentFailure({ code: "BadTaskSpecification", message: text });
  return new RetryableFailure({ code: "TaskFailedWithError", kind, message: text, cleanup: true });
}
