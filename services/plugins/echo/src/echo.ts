import { create } from "@bufbuild/protobuf";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { PermanentFailure } from "@flyte-ts/task-plugin";
import { outputMapping } from "./output-mapping.js";

/**
 * Returns the outputs of an echo task: its inputs, under the outputs' names.
 * @throws PermanentFailure when inputs and outputs do not match, or the request lacks inputs.
 */
export function echoOutputs(request: TaskRequest): LiteralMap {
  const mapping = outputMapping(request.template?.interface);
  if (mapping === undefined) {
    throw new PermanentFailure({
      code: "BadTaskSpecification",
      message: "an echo task needs an output of the same type for each input, and no others",
    });
  }
  const outputs = create(LiteralMapSchema, {});
  if (mapping.size === 0) return outputs;
  if (request.inputs === undefined) {
    throw new PermanentFailure({
      code: "InputsNotInline",
      kind: "SYSTEM",
      message: "an echo task needs its inputs by value; the request has none",
    });
  }
  for (const [output, input] of mapping) {
    const literal = request.inputs.literals[input];
    if (literal !== undefined) outputs.literals[output] = literal;
  }
  return outputs;
}
