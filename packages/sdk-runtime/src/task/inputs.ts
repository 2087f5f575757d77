import { create, fromBinary } from "@bufbuild/protobuf";
import { loadOffloaded } from "@flyte-ts/domain/literal";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { elementInputs, type TaskDefinition } from "@flyte-ts/sdk/runtime";
import type { BlobAccess } from "../blob/blob-access.js";
import type { RunRequest } from "../run-request.js";
import { RunFailure } from "../failure/failure.js";

/** Maximum size of a message with inputs, bytes; files are not part of it. */
const MAX_INPUT_BYTES = 1 << 30;

/** Reads the inputs of a task; those of one element for a mapped task. */
export async function readInputs({ addresses, blobs, map, environment }: RunRequest, { inputs }: TaskDefinition): Promise<LiteralMap> {
  const bytes = await blobs.read(addresses.inputs, { maxBytes: MAX_INPUT_BYTES });
  if (bytes === undefined && Object.keys(inputs).length > 0) throw new RunFailure(`the inputs at ${addresses.inputs} do not exist`);
  const all = await withOffloaded(blobs, bytes === undefined ? create(LiteralMapSchema) : fromBinary(LiteralMapSchema, bytes));
  return map === undefined ? all : elementInputs(all, elementIndex(environment), map.bound);
}

/** Returns the index of this pod's element, as the server numbers it. */
function elementIndex(environment: RunRequest["environment"]): number {
  const name = environment["BATCH_JOB_ARRAY_INDEX_VAR_NAME"];
  const index = name === undefined || name === "" ? undefined : Number(environment[name]);
  const offset = Number(environment["BATCH_JOB_ARRAY_INDEX_OFFSET"] || 0);
  if (index === undefined || !Number.isSafeInteger(index) || !Number.isSafeInteger(offset))
    throw new RunFailure("the server names no index of an element: BATCH_JOB_ARRAY_INDEX_VAR_NAME is not set or no number");
  return index + offset;
}

/** Replaces values that the server keeps beside the message by their content. */
function withOffloaded(blobs: BlobAccess, literals: LiteralMap): Promise<LiteralMap> {
  return loadOffloaded(literals, async (uri) => {
    const bytes = await blobs.read(uri, { maxBytes: MAX_INPUT_BYTES });
    if (bytes === undefined) throw new RunFailure(`the value at ${uri} does not exist`);
    return bytes;
  });
}
