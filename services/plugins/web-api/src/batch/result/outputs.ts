import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Failed, PermanentFailure, RetryableFailure, type Succeeded } from "@flyte-ts/task-plugin";
import { outputsNotFound } from "@flyte-ts/task-plugin/files";
import type { EndedObservation } from "../../frame/observation.js";
import { type AttemptStore, INLINE_BYTES, type OutputsFile, readErrorFile, readOutputsFile } from "../../task/attempt-files.js";
import { ArrayOutputs } from "./array-outputs.js";
import type { BatchCalls } from "../batch-calls.js";
import type { BatchJob } from "../batch-job.js";

export type OutputStore = AttemptStore;

export interface BatchOutputsDeps {
  readonly calls: Pick<BatchCalls, "listJobs">;
  readonly store: OutputStore;
  /** Maximum length of the errors of an array together, characters. */
  readonly maxErrorLength: number;
}

/**
 * Reads what a job wrote. The program of an `aws-batch` task writes below `<output prefix>/0`; its
 * outputs are moved to where propeller and admin look for those of an attempt.
 */
export class BatchOutputs {
  readonly #arrays: ArrayOutputs;

  constructor(private readonly deps: BatchOutputsDeps) {
    this.#arrays = new ArrayOutputs(deps);
  }

  /** @throws BlobUnavailableError, ApiError */
  async complete(request: TaskRequest, job: BatchJob, observation: EndedObservation): Promise<Succeeded | Failed> {
    const { details } = observation;
    try {
      const outputs = job.isArray ? await this.#arrays.collect(request, job, observation) : await this.#single(request, observation);
      return { phase: "SUCCEEDED", ...details, ...(await this.#move(request, outputs)) };
    } catch (error) {
      if (error instanceof PermanentFailure || error instanceof RetryableFailure) return { phase: "FAILED", failure: error, ...details };
      throw error;
    }
  }

  /** An error document counts whatever AWS says: a program may exit with 0 after an error. */
  async #single(request: TaskRequest, observation: EndedObservation): Promise<OutputsFile | undefined> {
    const { store } = this.deps;
    const files = (name: string) => [`${request.outputPrefix}/0/${name}`, `${request.outputPrefix}/${name}`];
    const error = await readErrorFile(store, files("error.pb"));
    if (error !== undefined) throw error;
    if (observation.state === "FAILED") throw observation.failure;
    if (!declaresOutputs(request)) return undefined;
    const outputs = await readOutputsFile(store, files("outputs.pb"));
    if (outputs === undefined) throw outputsNotFound();
    return outputs;
  }

  async #move({ outputPrefix }: TaskRequest, outputs: OutputsFile | undefined): Promise<Pick<Succeeded, "outputs">> {
    if (outputs === undefined) return {};
    await this.deps.store.put(`${outputPrefix}/outputs.pb`, outputs.bytes);
    return outputs.bytes.length <= INLINE_BYTES ? { outputs: outputs.value } : {};
  }
}

export function declaresOutputs({ template }: TaskRequest): boolean {
  return Object.keys(template?.interface?.outputs?.variables ?? {}).length > 0;
}
