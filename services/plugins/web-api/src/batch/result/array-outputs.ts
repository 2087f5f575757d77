import { toBinary } from "@bufbuild/protobuf";
import { mapConcurrent } from "@flyte-ts/async";
import { collectionLiteral, literalMap, noneLiteral } from "@flyte-ts/domain/literal";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import { outputsNotFound } from "@flyte-ts/task-plugin/files";
import type { EndedObservation } from "../../frame/observation.js";
import { MAX_FILE_BYTES, type OutputsFile, readErrorFile, readOutputsFile } from "../../task/attempt-files.js";
import type { BatchJob } from "../batch-job.js";
import type { BatchOutputsDeps } from "./outputs.js";

/** Number of files that are read at a time. */
const CONCURRENCY = 16;

/** Puts the outputs and errors of an array's items together. */
export class ArrayOutputs {
  constructor(private readonly deps: BatchOutputsDeps) {}

  /**
   * Reads `<output prefix>/<index>` of each item; each output becomes a list, with `none` for items
   * that wrote nothing and need not succeed.
   * @throws the failure of the array
   */
  async collect(request: TaskRequest, job: BatchJob, observation: EndedObservation): Promise<OutputsFile | undefined> {
    if (observation.state === "FAILED") throw await this.#failure(request, job, observation.failure);
    const names = Object.keys(request.template?.interface?.outputs?.variables ?? {});
    if (names.length === 0) return undefined;
    let bytes = 0;
    const items = await mapConcurrent(indexesOf(job), CONCURRENCY, async (index) => {
      const file = await readOutputsFile(this.deps.store, [`${request.outputPrefix}/${index}/outputs.pb`]);
      bytes += file?.bytes.length ?? 0;
      if (bytes > MAX_FILE_BYTES) throw tooLarge(request);
      return file?.value;
    });
    const missing = items.filter((item) => item === undefined).length;
    if (job.size - missing < job.minSuccesses) throw outputsNotFound(`${missing} items of the array`);
    return encoded(listsOf(names, items));
  }

  async #failure(request: TaskRequest, job: BatchJob, failure: PermanentFailure | RetryableFailure) {
    const { calls, store, maxErrorLength } = this.deps;
    const indexes = job.size === 1 ? [0] : await failedIndexes(calls, job);
    const errors = await mapConcurrent(indexes, CONCURRENCY, async (index) => {
      const error = await readErrorFile(store, [`${request.outputPrefix}/${index}/error.pb`]);
      return error && { index, error };
    });
    const read = errors.flatMap((found) => found ?? []);
    const [first] = read;
    if (first === undefined) return failure;
    const text = read.map(({ index, error }) => `[${index}]: ${error.details.message}`).join("\n");
    const message = `${failure.details.message}\n${text}`.slice(0, maxErrorLength);
    const details = { ...first.error.details, message };
    const permanent = read.some(({ error }) => !error.recoverable);
    return permanent ? new PermanentFailure(details) : new RetryableFailure(details);
  }
}

/** Indexes of the first failed children; a page of them suffices for an error text. */
async function failedIndexes(calls: BatchOutputsDeps["calls"], { jobId }: BatchJob): Promise<number[]> {
  const failed = await calls.listJobs({ arrayJobId: jobId, jobStatus: "FAILED" });
  return failed.flatMap(({ arrayProperties }) => arrayProperties?.index ?? []).sort((a, b) => a - b);
}

function indexesOf({ size }: BatchJob): number[] {
  return Array.from({ length: size }, (_, index) => index);
}

function listsOf(names: readonly string[], items: readonly (LiteralMap | undefined)[]): LiteralMap {
  return literalMap(names.map((name) => [name, collectionLiteral(items.map((item) => item?.literals[name] ?? noneLiteral()))] as const));
}

function encoded(value: LiteralMap): OutputsFile {
  return { value, bytes: toBinary(LiteralMapSchema, value) };
}

function tooLarge({ outputPrefix }: TaskRequest): PermanentFailure {
  const message = `the outputs of the array below ${outputPrefix} exceed ${MAX_FILE_BYTES} bytes`;
  return new PermanentFailure({ code: "OutputSizeExceeded", message });
}
