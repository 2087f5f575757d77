import type { JobDetail } from "@aws-sdk/client-batch";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Failed, Succeeded } from "@flyte-ts/task-plugin";
import { ApiError } from "../frame/call/api-error.js";
import type { EndedObservation } from "../frame/observation.js";
import type { CreateOptions, Reading, WebApi } from "../frame/web-api.js";
import { readInputs } from "../task/inputs.js";
import { templateRenderer } from "../task/render.js";
import { ArrayChildren } from "./result/array-children.js";
import { type ArraySpec, arraySpec } from "./array-spec.js";
import { type BatchCalls, MAX_IDS } from "./batch-calls.js";
import { type BatchJob, batchJob } from "./batch-job.js";
import { type JobDefinition, jobDefinitionOf, type JobDefinitionSettings } from "./submit/job-definition.js";
import { JobDefinitions } from "./submit/job-definitions.js";
import type { ConsolePlace } from "./result/job-details.js";
import { observeJob } from "./result/observe-job.js";
import { platformOf } from "./submit/platform.js";
import { BatchOutputs, type OutputStore } from "./result/outputs.js";
import { ATTEMPT_PARAMETER, attemptIdentity, queueOf, submitInput, type SubmitSettings } from "./submit/submit-input.js";

export interface BatchSettings extends JobDefinitionSettings, SubmitSettings {
  readonly maxArraySize: number;
  readonly maxErrorLength: number;
}

export interface BatchDeps {
  readonly calls: BatchCalls;
  readonly store: OutputStore;
  readonly place: ConsolePlace;
  readonly settings: BatchSettings;
}

/** Runs containers of `aws-batch` and `container_array` tasks in AWS Batch. */
export class BatchApi implements WebApi<BatchJob> {
  readonly id = "batch";
  readonly pluginIdentifier = "aws_array";
  readonly maxBatch = MAX_IDS;
  readonly #definitions: JobDefinitions;
  readonly #children: ArrayChildren;
  readonly #outputs: BatchOutputs;

  constructor(private readonly deps: BatchDeps) {
    const { calls, store, settings } = deps;
    this.#definitions = new JobDefinitions(calls, settings);
    this.#children = new ArrayChildren(calls);
    this.#outputs = new BatchOutputs({ calls, store, maxErrorLength: settings.maxErrorLength });
  }

  parseJob(value: unknown): BatchJob | undefined {
    return batchJob.safeParse(value).data;
  }

  async prepare(request: TaskRequest): Promise<(options: CreateOptions) => Promise<BatchJob>> {
    const { settings, store } = this.deps;
    const platform = platformOf(request.template);
    const definition = jobDefinitionOf(request, platform, settings);
    const spec = arraySpec(request.template, settings.maxArraySize);
    const render = templateRenderer(request, await readInputs(request, store));
    const inputFor = (jobDefinition: string) => submitInput(request, { spec, platform, jobDefinition, render, settings });
    // Detects errors of the task before anything is created.
    inputFor("");
    return async ({ mayExist }) => {
      const existing = mayExist ? await this.#findByName(request) : undefined;
      if (existing !== undefined) return jobOf(existing, spec);
      const jobDefinition = await this.#definitions.arnOf(definition);
      const jobId = await this.deps.calls.submitJob(inputFor(jobDefinition)).catch((error) => this.#withoutDefinition(definition, error));
      return jobOf(jobId, spec);
    };
  }

  async find(request: TaskRequest): Promise<BatchJob | undefined> {
    const spec = arraySpec(request.template, this.deps.settings.maxArraySize);
    const jobId = await this.#findByName(request);
    return jobId === undefined ? undefined : jobOf(jobId, spec);
  }

  async read(jobs: readonly BatchJob[]): Promise<readonly Reading<BatchJob>[]> {
    const found = new Map((await this.deps.calls.describeJobs(jobs.map(({ jobId }) => jobId))).map((detail) => [detail.jobId, detail]));
    return Promise.all(jobs.map((job) => this.#reading(job, found.get(job.jobId))));
  }

  async stop({ jobId }: BatchJob, reason: string): Promise<void> {
    await this.deps.calls.terminateJob(jobId, reason);
  }

  async complete(request: TaskRequest, job: BatchJob, observation: EndedObservation): Promise<Succeeded | Failed> {
    return this.#outputs.complete(request, job, observation);
  }

  forget(job: BatchJob): void {
    this.#children.forget(job);
  }

  async #reading(job: BatchJob, detail: JobDetail | undefined): Promise<Reading<BatchJob>> {
    if (detail === undefined) {
      const message = `AWS Batch does not know job ${job.jobId}`;
      return { kind: "failed", error: new ApiError("missing", { code: "JobNotFound", message }) };
    }
    try {
      const children = await this.#children.of(job, detail);
      return { kind: "observed", observation: observeJob(job, detail, children, this.deps.place) };
    } catch (error) {
      if (error instanceof ApiError) return { kind: "failed", error };
      throw error;
    }
  }

  /** Returns the id of the attempt's job: among the jobs of its name, the one with its identity. */
  async #findByName(request: TaskRequest): Promise<string | undefined> {
    const filters = [{ name: "JOB_NAME", values: [request.generatedName] }];
    const listed = await this.deps.calls.listJobs({ jobQueue: queueOf(request), filters });
    const ids = listed.flatMap(({ jobId }) => jobId ?? []);
    const jobs = await this.deps.calls.describeJobs(ids);
    return jobs.find(({ parameters }) => parameters?.[ATTEMPT_PARAMETER] === attemptIdentity(request))?.jobId;
  }

  /** Forgets a definition that AWS no longer has, so that the next try registers it again. */
  #withoutDefinition(definition: JobDefinition, error: unknown): never {
    if (error instanceof ApiError && error.kind === "invalid" && /job ?definition/i.test(error.message)) {
      this.#definitions.forget(definition);
      throw new ApiError("unavailable", { code: error.code, message: error.message, cause: error });
    }
    throw error;
  }
}

function jobOf(jobId: string, { size, isArray, minSuccesses }: ArraySpec): BatchJob {
  return { jobId, size, isArray, minSuccesses };
}
