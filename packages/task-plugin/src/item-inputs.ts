import { collectionLiteral, literalMap } from "@flyte-ts/domain/literal";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/**
 * Contents of the file at `inputUri`: the request's inputs, in lists of one where an array's
 * program expects lists.
 */
export function inputsForFile({ arrayItem }: Pick<TaskRequest, "arrayItem">, inputs: LiteralMap): LiteralMap {
  if (arrayItem?.lists !== true) return inputs;
  return mapUnboundInputs(inputs, arrayItem.boundInputs, (literal) => collectionLiteral([literal]));
}

/** Extracts the request's own inputs from the file at `inputUri`. */
export function inputsFromFile({ arrayItem }: Pick<TaskRequest, "arrayItem">, file: LiteralMap): LiteralMap {
  if (arrayItem?.lists !== true) return file;
  return mapUnboundInputs(file, arrayItem.boundInputs, (literal) =>
    literal.value.case === "collection" ? (literal.value.value.literals[arrayItem.position] ?? literal) : literal,
  );
}

function mapUnboundInputs(inputs: LiteralMap, boundInputs: readonly string[], mapLiteral: (literal: Literal) => Literal): LiteralMap {
  return literalMap(
    Object.entries(inputs.literals).map(([name, literal]) => [name, boundInputs.includes(name) ? literal : mapLiteral(literal)] as const),
  );
}
