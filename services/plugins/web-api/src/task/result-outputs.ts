import { literalMap, schemaLiteral, structuredDatasetLiteral } from "@flyte-ts/domain/literal";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/** Name of the only output that queries have. */
const RESULTS = "results";

/** True when the task's interface declares the output of queries. */
export function declaresResults({ template }: Pick<TaskRequest, "template">): boolean {
  return template?.interface?.outputs?.variables[RESULTS] !== undefined;
}

/**
 * Builds the output `results` at an address, as the interface declares it: a Schema, else a
 * StructuredDataset. Undefined when it declares no such output; others are ignored.
 *
 * @param format format of the rows, where the declared type names none
 */
export function resultOutputs({ template }: TaskRequest, uri: string, format: string): LiteralMap | undefined {
  const type = template?.interface?.outputs?.variables[RESULTS]?.type?.type;
  switch (type?.case) {
    case undefined:
      return declaresResults({ template }) ? literalMap([[RESULTS, structuredDatasetLiteral(uri, undefined)]]) : undefined;
    case "schema":
      return literalMap([[RESULTS, schemaLiteral(uri, type.value)]]);
    case "structuredDatasetType":
      return literalMap([[RESULTS, structuredDatasetLiteral(uri, { ...type.value, format: format || type.value.format })]]);
    default:
      return undefined;
  }
}
