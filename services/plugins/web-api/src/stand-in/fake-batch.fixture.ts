import {
  type BatchClient,
  DescribeJobsCommand,
  type JobDetail,
  type JobStatus,
  ListJobsCommand,
  RegisterJobDefinitionCommand,
  type RegisterJobDefinitionRequest,
  SubmitJobCommand,
  type SubmitJobRequest,
  TerminateJobCommand,
} from "@aws-sdk/client-batch";
import { Faults } from "./faults.fixture.js";

interface Job {
  readonly id: string;
  readonly input: SubmitJobRequest;
  readonly children: { status: JobStatus; reason?: string }[];
  status: JobStatus;
  reason?: string | undefined;
  terminated: boolean;
}

const STEPS: readonly JobStatus[] = ["SUBMITTED", "RUNNABLE", "STARTING", "RUNNING"];

/**
 * AWS Batch in memory. Each reading moves a job one state further; jobs run until the test ends
 * them.
 */
export class FakeBatch {
  readonly jobs: Job[] = [];
  readonly definitions: RegisterJobDefinitionRequest[] = [];
  readonly faults = new Faults();
  readonly calls: { readonly name: string; readonly input: object }[] = [];
  readonly send = ((command: unknown) => this.faults.apply(() => this.#answer(command))) as unknown as BatchClient["send"];

  /** Ends all jobs; `children`: states of an array's items, default that of the job. */
  finish(status: "SUCCEEDED" | "FAILED", { reason, children = [] }: { reason?: string; children?: readonly JobStatus[] } = {}): void {
    for (const job of this.jobs.filter(isOpen)) {
      Object.assign(job, { status, reason });
      job.children.forEach((child, index) => Object.assign(child, { status: children[index] ?? status, reason }));
    }
  }

  get running(): number {
    return this.jobs.filter(isOpen).length;
  }

  #answer(command: unknown): object {
    const { input } = command as { readonly input: object };
    this.calls.push({ name: (command as object).constructor.name.replace("Command", ""), input });
    if (command instanceof RegisterJobDefinitionCommand) {
      this.definitions.push(command.input);
      return { jobDefinitionArn: `arn:definition:${this.definitions.length}` };
    }
    if (command instanceof SubmitJobCommand) return { jobId: this.#submit(command.input) };
    if (command instanceof DescribeJobsCommand) return { jobs: command.input.jobs?.flatMap((id) => this.#describe(id) ?? []) };
    if (command instanceof ListJobsCommand) return { jobSummaryList: this.#list(command) };
    if (command instanceof TerminateJobCommand) return this.#terminate(command);
    throw new Error("not a command of AWS Batch that the stand-in knows");
  }

  #submit(input: SubmitJobRequest): string {
    const children = Array.from({ length: input.arrayProperties?.size ?? 0 }, () => ({ status: "SUBMITTED" as JobStatus }));
    this.jobs.push({ id: `job-${this.jobs.length}`, input, children, status: "SUBMITTED", terminated: false });
    return `job-${this.jobs.length - 1}`;
  }

  #describe(id: string): JobDetail | undefined {
    const [jobId, index] = id.split(":");
    const job = this.jobs.find((one) => one.id === jobId);
    if (job === undefined) return undefined;
    const child = index === undefined ? undefined : job.children[Number(index)];
    if (child !== undefined) return childDetail(id, Number(index), child);
    const { input, status, reason, terminated } = job;
    advance(job);
    return {
      jobId: job.id,
      jobName: input.jobName,
      status: job.children.length > 0 && isOpen(job) ? "PENDING" : status,
      statusReason: reason,
      parameters: input.parameters,
      isTerminated: terminated,
      isCancelled: false,
      ...(job.children.length > 0 && { arrayProperties: { size: job.children.length, statusSummary: summaryOf(job) } }),
      container: { logStreamName: `stream/${job.id}` },
    } as JobDetail;
  }

  #list({ input }: ListJobsCommand): object[] {
    if (input.arrayJobId !== undefined) {
      const job = this.jobs.find(({ id }) => id === input.arrayJobId);
      const children = job?.children.map((child, index) => ({ ...child, jobId: `${job.id}:${index}`, arrayProperties: { index } })) ?? [];
      return children.filter(({ status }) => status === input.jobStatus);
    }
    const [filter] = input.filters ?? [];
    return this.jobs.filter((job) => job.input.jobName === filter?.values?.[0]).map(({ id }) => ({ jobId: id }));
  }

  #terminate({ input }: TerminateJobCommand): object {
    const job = this.jobs.find(({ id }) => id === input.jobId);
    if (job !== undefined && isOpen(job)) {
      Object.assign(job, { status: "FAILED", reason: input.reason, terminated: true });
      for (const child of job.children) child.status = "FAILED";
    }
    return {};
  }
}

function childDetail(jobId: string, index: number, { status, reason }: Job["children"][number]): JobDetail {
  return { jobId, status, statusReason: reason, arrayProperties: { index }, container: { logStreamName: `stream/${jobId}` } } as JobDetail;
}

function advance(job: Job): void {
  const next = (status: JobStatus): JobStatus => STEPS[Math.min(STEPS.indexOf(status) + 1, STEPS.length - 1)] ?? status;
  if (!isOpen(job)) return;
  job.status = next(job.status);
  for (const child of job.children) if (isOpen(child)) child.status = next(child.status);
}

function summaryOf({ children }: Job): Record<string, number> {
  const summary: Record<string, number> = {};
  for (const { status } of children) summary[status] = (summary[status] ?? 0) + 1;
  return summary;
}

function isOpen({ status }: { readonly status: JobStatus }): boolean {
  return status !== "SUCCEEDED" && status !== "FAILED";
}
