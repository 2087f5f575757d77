import type { IncomingMessage } from "node:http";
import type { RegisterJobDefinitionRequest, SubmitJobRequest } from "@aws-sdk/client-batch";
import { Semaphore } from "@flyte-ts/async";
import { describeJob, type ExecutedJob, type ExecutedPart, isOpen, partDetail } from "./batch-server-jobs.fixture.js";
import { type Answer, type Call, HttpStandIn } from "./http-stand-in.fixture.js";

/** A container that the stand-in runs. */
export interface BatchProgram {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Aborts when the job is terminated. */
  readonly signal: AbortSignal;
}

export interface BatchServerOptions {
  /** Runs a container; returns its exit code. */
  readonly run: (program: BatchProgram) => Promise<number>;
  /** Number of containers at a time. */
  readonly machines?: number;
}

interface ListInput {
  readonly arrayJobId?: string;
  readonly jobStatus?: string;
  readonly filters?: readonly { readonly values?: readonly string[] }[];
}

const QUEUES = new Set(["queue-1"]);

/** Speaks AWS Batch's protocol over HTTP and executes jobs, each child of an array for itself. */
export class BatchServer extends HttpStandIn {
  readonly jobs = new Map<string, ExecutedJob>();
  readonly definitions = new Map<string, RegisterJobDefinitionRequest>();
  readonly #machines: Semaphore;

  constructor(private readonly options: BatchServerOptions) {
    super();
    this.#machines = new Semaphore(options.machines ?? 64);
  }

  override async stop(): Promise<void> {
    for (const job of this.jobs.values()) terminate(job, "the server stops");
    await super.stop();
  }

  /** Number of containers that wait or run. */
  get open(): number {
    return [...this.jobs.values()].flatMap(({ parts }) => parts).filter(isOpen).length;
  }

  protected override operationOf({ url = "" }: IncomingMessage): string {
    return url.replace("/v1/", "");
  }

  protected override answer({ operation, input }: Call): Answer {
    try {
      return { body: this.#answer(operation, input) };
    } catch (error) {
      return awsRefusal(400, "ClientException", (error as Error).message);
    }
  }

  #answer(path: string, input: unknown): object {
    switch (path) {
      case "registerjobdefinition":
        return this.#register(input as RegisterJobDefinitionRequest);
      case "submitjob":
        return this.#submit(input as SubmitJobRequest);
      case "describejobs":
        return { jobs: this.#describe((input as { jobs: string[] }).jobs) };
      case "listjobs":
        return this.#list(input as ListInput);
      case "terminatejob": {
        const { jobId, reason } = input as { jobId: string; reason: string };
        terminate(this.jobs.get(jobId), reason);
        return {};
      }
      default:
        throw new Error(`no such operation: ${path}`);
    }
  }

  #register(definition: RegisterJobDefinitionRequest): object {
    const arn = `arn:aws:batch:us-east-1:1:job-definition/${definition.jobDefinitionName}:${this.definitions.size + 1}`;
    this.definitions.set(arn, definition);
    return { jobDefinitionArn: arn, jobDefinitionName: definition.jobDefinitionName, revision: this.definitions.size };
  }

  #submit(input: SubmitJobRequest): object {
    if (!QUEUES.has(input.jobQueue ?? "")) throw new Error(`JobQueue ${input.jobQueue} not found`);
    if (!this.definitions.has(input.jobDefinition ?? "")) throw new Error(`job definition ${input.jobDefinition} not found`);
    const size = input.arrayProperties?.size;
    if (size !== undefined && (size < 2 || size > 10_000)) throw new Error(`Array size must be between 2 and 10000, not ${size}`);
    const id = `00000000-0000-4000-8000-${String(this.jobs.size).padStart(12, "0")}`;
    const parts = Array.from({ length: size ?? 1 }, (): ExecutedPart => ({ status: "RUNNABLE" }));
    const job: ExecutedJob = { id, input, parts, isArray: size !== undefined, stop: new AbortController() };
    this.jobs.set(id, job);
    parts.forEach((part, index) => void this.#machines.run(() => this.#run(job, part, index)));
    return { jobId: id, jobName: input.jobName };
  }

  async #run({ input, isArray, stop }: ExecutedJob, part: ExecutedPart, index: number): Promise<void> {
    if (!isOpen(part)) return;
    part.status = "RUNNING";
    const overrides = input.containerOverrides;
    const environment = Object.fromEntries((overrides?.environment ?? []).map(({ name = "", value = "" }) => [name, value]));
    if (isArray) environment.AWS_BATCH_JOB_ARRAY_INDEX = String(index);
    const exitCode = await this.options.run({ command: overrides?.command ?? [], environment, signal: stop.signal });
    if (isOpen(part))
      Object.assign(part, { status: exitCode === 0 ? "SUCCEEDED" : "FAILED", exitCode, reason: "Essential container in task exited" });
  }

  #describe(ids: readonly string[]): object[] {
    if (ids.length > 100) throw new Error("at most 100 jobs can be described");
    return ids.flatMap((id) => {
      const [jobId = "", index] = id.split(":");
      const job = this.jobs.get(jobId);
      if (job === undefined) return [];
      return index === undefined ? describeJob(job) : partDetail(job, Number(index));
    });
  }

  #list(input: ListInput): object {
    if (input.arrayJobId === undefined) {
      const found = [...this.jobs.values()].filter((job) => job.input.jobName === input.filters?.[0]?.values?.[0]);
      return { jobSummaryList: found.map(({ id }) => ({ jobId: id })) };
    }
    const job = this.jobs.get(input.arrayJobId);
    const indexes = job?.parts.flatMap(({ status }, index) => (status === input.jobStatus ? [index] : [])) ?? [];
    const page = indexes.slice(0, 100);
    return { jobSummaryList: page.map((index) => ({ jobId: `${job?.id}:${index}`, arrayProperties: { index } })), nextToken: "more" };
  }
}

function terminate(job: ExecutedJob | undefined, reason: string): void {
  if (job === undefined) return;
  const open = job.parts.filter(isOpen);
  if (open.length === 0) return;
  job.terminated = reason;
  for (const part of open) Object.assign(part, { status: "FAILED", reason });
  job.stop.abort();
}

/** An error as AWS's REST protocols answer it. */
export function awsRefusal(status: number, type: string, message = type): Answer {
  return { status, headers: { "x-amzn-errortype": type }, body: { message } };
}
