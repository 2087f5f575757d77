import { toBinary } from "@bufbuild/protobuf";
import type { Resource } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { PermanentFailure } from "@flyte-ts/task-plugin";
import type { ResultLimits } from "@flyte-ts/task-plugin/files";
import { type DataStore, readResult, type TaskResult } from "./read-result.js";

export interface ResultSource {
  readonly outputPrefix: string;
  /** The interface of the task has outputs. */
  readonly declaresOutputs: boolean;
}

/**
 * Returns the result of a task that succeeded. Outputs that the connector returns by value take
 * precedence and are written to outputs.pb when they are large; otherwise the job's files at the
 * output prefix are read.
 *
 * @throws BlobUnavailableError
 */
export async function taskResult(
  { outputs }: Pick<Resource, "outputs">,
  { outputPrefix, declaresOutputs }: ResultSource,
  { store, limits }: { readonly store: DataStore; readonly limits: ResultLimits },
): Promise<TaskResult> {
  if (!declaresOutputs) return {};
  if (outputs === undefined) return readResult(store, outputPrefix, limits);
  const bytes = toBinary(LiteralMapSchema, outputs);
  if (bytes.length <= limits.inlineBytes) return { outputs };
  if (bytes.length > limits.maxOutputBytes) {
    const message = `the connector's outputs have ${bytes.length} bytes, at most ${limits.maxOutputBytes} are allowed`;
    return { failure: new PermanentFailure({ code: "OutputSizeExceeded", message }) };
  }
  await store.put(`${outputPrefix}/outputs.pb`, bytes);
  return {};
}
