import { create, toBinary } from "@bufbuild/protobuf";
import { BlobTooLargeError } from "@flyte-ts/blobstore";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { readStored, StoredMessageError } from "@flyte-ts/input-limits";
import { inputsForFile, inputsFromFile, PermanentFailure, RetryLater } from "@flyte-ts/task-plugin";
import type { DataStore } from "../result/read-result.js";

/**
 * Returns the inputs of an attempt, which a connector gets by value. A task with a program also
 * gets them as a file, since its command may name it.
 *
 * @throws PermanentFailure, RetryLater, BlobUnavailableError
 */
export async function taskInputs(request: TaskRequest, store: DataStore): Promise<LiteralMap> {
  const { inputs, inputsWritten, inputUri, template } = request;
  if (inputs !== undefined) {
    const hasProgram = template?.target.case === "container" || template?.target.case === "k8sPod";
    if (hasProgram && !inputsWritten) await store.put(inputUri, toBinary(LiteralMapSchema, inputsForFile(request, inputs)));
    return inputs;
  }
  if (!inputsWritten) return create(LiteralMapSchema);
  const stored = await readStored(store, { uri: inputUri, schema: LiteralMapSchema }).catch((cause: unknown) => {
    if (!(cause instanceof StoredMessageError || cause instanceof BlobTooLargeError)) throw cause;
    throw new PermanentFailure({ code: "InputsBadFormat", message: `inputs at [${inputUri}] cannot be read: ${cause.message}` });
  });
  if (stored === undefined) throw new RetryLater(`inputs do not exist at ${inputUri} yet`);
  return inputsFromFile(request, stored);
}
