import type { JobDetail } from "@aws-sdk/client-batch";
import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { Observation } from "../../frame/observation.js";
import type { BatchJob } from "../batch-job.js";
import { type ConsolePlace, jobDetails } from "./job-details.js";

/** Reasons that name a machine which AWS withdrew, such as a spot instance. */
const MACHINE_LOST = /^Host EC2/;
const OUT_OF_MEMORY = /OutOfMemory/;

/** Maps an answer of DescribeJobs, with the known children of an array. */
export function observeJob(job: BatchJob, detail: JobDetail, children: readonly JobDetail[], place: ConsolePlace): Observation {
  const details = jobDetails(job, detail, children, place);
  const counts = childCounts(detail, children);
  const summary = job.size > 1 ? countsText(counts) : `Job is ${detail.status ?? "SUBMITTED"}`;
  switch (detail.status) {
    case "SUCCEEDED":
      return { state: "SUCCEEDED", details };
    case "FAILED":
      if (job.size > 1 && !isStopped(detail) && (counts.SUCCEEDED ?? 0) >= job.minSuccesses) return { state: "SUCCEEDED", details };
      return { state: "FAILED", details, failure: jobFailure(detail, summary), stopped: isStopped(detail) };
    case "RUNNING":
      return { state: "RUNNING", reason: summary, details };
    case "STARTING":
      return { state: "INITIALIZING", reason: summary, details };
    default:
      // The parent of an array is PENDING while its children run.
      return { state: job.size > 1 && hasStarted(counts) ? "RUNNING" : "QUEUED", reason: summary, details };
  }
}

function isStopped({ isCancelled, isTerminated }: JobDetail): boolean {
  return isCancelled === true || isTerminated === true;
}

function jobFailure(detail: JobDetail, summary: string): RetryableFailure {
  const { statusReason = "", container, jobId } = detail;
  const exit = container?.exitCode === undefined ? undefined : `exit code ${container.exitCode}`;
  const facts = [statusReason, container?.reason, exit, detail.arrayProperties ? summary : undefined].filter(Boolean);
  return new RetryableFailure({
    code: OUT_OF_MEMORY.test(container?.reason ?? "") ? "OOMKilled" : "BatchJobFailed",
    kind: MACHINE_LOST.test(statusReason) ? "SYSTEM" : "USER",
    message: `AWS Batch job ${jobId} failed: ${facts.join("; ") || "AWS gives no reason"}`,
  });
}

type Counts = Readonly<Record<string, number>>;

/** Numbers of children per state: AWS's own, else those of the known children. */
function childCounts({ arrayProperties }: JobDetail, children: readonly JobDetail[]): Counts {
  const summary = arrayProperties?.statusSummary;
  if (summary !== undefined && Object.keys(summary).length > 0) return summary;
  const counts: Record<string, number> = {};
  for (const { status = "SUBMITTED" } of children) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function hasStarted(counts: Counts): boolean {
  return ["STARTING", "RUNNING", "SUCCEEDED", "FAILED"].some((status) => (counts[status] ?? 0) > 0);
}

function countsText(counts: Counts): string {
  const parts = Object.entries(counts).flatMap(([status, count]) => (count > 0 ? [`${count} ${status}`] : []));
  return `Items of the array: ${parts.join(", ") || "submitted"}`;
}
