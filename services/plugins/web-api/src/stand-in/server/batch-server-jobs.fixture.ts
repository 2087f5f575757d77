import type { SubmitJobRequest } from "@aws-sdk/client-batch";

/** A container of a job: a child of an array, or the only one. */
export interface ExecutedPart {
  status: "RUNNABLE" | "RUNNING" | "SUCCEEDED" | "FAILED";
  reason?: string;
  exitCode?: number;
}

export interface ExecutedJob {
  readonly id: string;
  readonly input: SubmitJobRequest;
  readonly parts: ExecutedPart[];
  readonly isArray: boolean;
  readonly stop: AbortController;
  /** Reason of a termination. */
  terminated?: string;
}

export function isOpen({ status }: ExecutedPart): boolean {
  return status === "RUNNABLE" || status === "RUNNING";
}

/** Answer of DescribeJobs; the parent of an array is PENDING until all children have ended. */
export function describeJob(job: ExecutedJob): object {
  const { id, input, parts, isArray, terminated } = job;
  const base = {
    jobId: id,
    jobName: input.jobName,
    jobQueue: input.jobQueue,
    parameters: input.parameters,
    isTerminated: terminated !== undefined,
  };
  if (!isArray) return { ...base, ...partFields(parts[0], id) };
  const statusSummary: Record<string, number> = {};
  for (const { status } of parts) statusSummary[status] = (statusSummary[status] ?? 0) + 1;
  const ended = statusSummary.FAILED ? "FAILED" : "SUCCEEDED";
  return {
    ...base,
    status: parts.some(isOpen) ? "PENDING" : ended,
    statusReason: terminated,
    arrayProperties: { size: parts.length, statusSummary },
  };
}

export function partDetail({ id, parts }: ExecutedJob, index: number): object {
  return { jobId: `${id}:${index}`, arrayProperties: { index }, ...partFields(parts[index], `${id}:${index}`) };
}

function partFields(part: ExecutedPart | undefined, id: string): object {
  const { status, reason, exitCode } = part ?? { status: "FAILED" as const };
  const container = { logStreamName: `default/${id}`, ...(exitCode !== undefined && { exitCode }) };
  const hasStarted = status !== "RUNNABLE";
  return { status, statusReason: reason, container, attempts: hasStarted && status !== "RUNNING" ? [{ container }] : [] };
}
