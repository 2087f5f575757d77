import { create, fromBinary } from "@bufbuild/protobuf";
import { type Literal, type LiteralMap, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
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
async function withOffloaded(blobs: BlobAccess, { literals }: LiteralMap): Promise<LiteralMap> {
  const entries = await Promise.all(
    Object.entries(literals).map(async ([name, literal]) => [name, await resolveOffloaded(blobs, literal)] as const),
  );
  return create(LiteralMapSchema, { literals: Object.fromEntries(entries) });
}

async function resolveOffloaded(blobs: BlobAccess, literal: Literal): Promise<Literal> {
  const { value } = literal;
  switch (value.case) {
    case "offloadedMetadata": {
      const bytes = await blobs.read(value.value.uri, { maxBytes: MAX_INPUT_BYTES });
      if (bytes === undefined) throw new RunFailure(`the value at ${value.value.uri} does not exist`);
      return resolveOffloaded(blobs, fromBinary(LiteralSchema, bytes));
    }
    case "collection": {
      if (!hasOffloaded(value.value.literals)) return literal;
      const literals = await Promise.all(value.value.literals.map((item) => resolveOffloaded(blobs, item)));
      return { ...literal, value: { case: "collection", value: { ...value.value, literals } } };
    }
    case "map": {
      if (!hasOffloaded(Object.values(value.value.literals))) return literal;
      return { ...literal, value: { case: "map", value: await withOffloaded(blobs, value.value) } };
    }
    case "scalar":
    case undefined:
      return literal;
  }
}

const hasOffloaded = (literals: readonly Literal[]): boolean => literals.some(({ value }) => value.case !== "scalar");
