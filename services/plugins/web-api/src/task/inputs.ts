import { BlobTooLargeError } from "@flyte-ts/blobstore";
import { literalMap } from "@flyte-ts/domain/literal";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type BlobReader, readStored, StoredMessageError } from "@flyte-ts/input-limits";
import { inputsFromFile } from "@flyte-ts/task-plugin";
import { badTask } from "./bad-task.js";

/** Maximum size of inputs for a query or parameters, bytes. */
const MAX_INPUT_BYTES = 10 * 1024 * 1024;

/**
 * Returns the inputs of the task: those of the request, else those at its address.
 * @throws PermanentFailure for inputs that are too large or malformed; BlobUnavailableError.
 */
export async function readInputs(request: TaskRequest, blobs: BlobReader): Promise<LiteralMap> {
  if (request.inputs !== undefined) return request.inputs;
  if (!request.inputsWritten) return literalMap([]);
  try {
    const file = await readStored(blobs, { uri: request.inputUri, schema: LiteralMapSchema, limits: { bytes: MAX_INPUT_BYTES } });
    return file === undefined ? literalMap([]) : inputsFromFile(request, file);
  } catch (error) {
    if (error instanceof BlobTooLargeError || error instanceof StoredMessageError)
      throw badTask(`cannot read the inputs: ${error.message}`);
    throw error;
  }
}
