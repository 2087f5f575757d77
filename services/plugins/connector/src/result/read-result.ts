import type { BlobStore } from "@flyte-ts/blobstore";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import { outputsNotFound, readErrorFile, readOutputsFile, type ResultLimits } from "@flyte-ts/task-plugin/files";

export type DataStore = Pick<BlobStore, "get" | "put" | "head" | "delete" | "list">;

export type TaskFailure = PermanentFailure | RetryableFailure;

/** Neither field is set when the outputs stay in outputs.pb or the task has none. */
export interface TaskResult {
  readonly failure?: TaskFailure;
  readonly outputs?: LiteralMap;
}

/**
 * Reads what the job of a connector left at the output prefix: an error document, or outputs.
 *
 * @throws BlobUnavailableError
 */
export async function readResult(store: DataStore, outputPrefix: string, limits: ResultLimits): Promise<TaskResult> {
  const [failure, outputs] = await Promise.all([
    readErrorFile(store, `${outputPrefix}/error.pb`, limits),
    readOutputsFile(store, `${outputPrefix}/outputs.pb`, limits),
  ]);
  if (failure !== undefined) return { failure };
  switch (outputs.kind) {
    case "none":
      return { failure: outputsNotFound() };
    case "large":
      return {};
    case "small":
      return { outputs: outputs.value };
    case "bad":
      return { failure: outputs.failure };
  }
}
