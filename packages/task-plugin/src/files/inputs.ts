import { toBinary } from "@bufbuild/protobuf";
import { type BlobStore, BlobTooLargeError } from "@flyte-ts/blobstore";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type BlobReader, readStored, StoredMessageError } from "@flyte-ts/input-limits";
import { PermanentFailure } from "../failure.js";
import { inputsForFile, inputsFromFile } from "../item-inputs.js";
import { RetryLater } from "../retry-later.js";
import { folderOf } from "../template-context.js";

type BlobWriter = Pick<BlobStore, "put">;

/** Writes inputs.pb of an attempt whose inputs the request has by value. */
export async function writeInputsFile(request: TaskRequest, inputs: LiteralMap, store: BlobWriter): Promise<void> {
  await store.put(request.inputUri, toBinary(LiteralMapSchema, inputsForFile(request, inputs)));
}

/**
 * Reads inputs.pb of an attempt.
 *
 * @throws PermanentFailure for malformed or too large inputs; RetryLater while they do not exist;
 *   BlobUnavailableError
 */
export async function readInputsFile(request: TaskRequest, store: BlobReader): Promise<LiteralMap> {
  const { inputUri } = request;
  const stored = await readStored(store, { uri: inputUri, schema: LiteralMapSchema }).catch((cause: unknown) => {
    if (!(cause instanceof StoredMessageError || cause instanceof BlobTooLargeError)) throw cause;
    throw new PermanentFailure({ code: "InputsBadFormat", message: `inputs at [${inputUri}] cannot be read: ${cause.message}` });
  });
  if (stored === undefined) throw new RetryLater(`inputs do not exist at ${inputUri} yet`);
  return inputsFromFile(request, stored);
}

/**
 * Writes task.pb beside inputs.pb, for texts that name `taskTemplatePath`; it is the same for every
 * attempt. Returns its URI.
 */
export async function writeTaskTemplate({ inputUri, template }: TaskRequest, store: BlobWriter): Promise<string> {
  const uri = `${folderOf(inputUri)}/task.pb`;
  if (template !== undefined) await store.put(uri, toBinary(TaskTemplateSchema, template));
  return uri;
}
