import { create } from "@bufbuild/protobuf";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { readInputsFile, writeInputsFile } from "@flyte-ts/task-plugin/files";
import type { DataStore } from "../result/read-result.js";

/**
 * Returns the inputs of an attempt, which a connector gets by value. A task with a program also
 * gets them as a file, since its command may name it.
 *
 * @throws PermanentFailure, RetryLater, BlobUnavailableError
 */
export async function taskInputs(request: TaskRequest, store: DataStore): Promise<LiteralMap> {
  const { inputs, inputsWritten, template } = request;
  if (inputs !== undefined) {
    const hasProgram = template?.target.case === "container" || template?.target.case === "k8sPod";
    if (hasProgram && !inputsWritten) await writeInputsFile(request, inputs, store);
    return inputs;
  }
  return inputsWritten ? readInputsFile(request, store) : create(LiteralMapSchema);
}
