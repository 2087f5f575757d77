import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { badTask } from "../task/bad-task.js";
import type { QueryParameter } from "./query-parameters.js";

/** Parts of the custom object beside the query configuration. */
export interface BigQueryTarget {
  readonly project: string;
  readonly location: string;
}

/** Fields of BigQuery's JobConfigurationQuery that a task may set. */
const QUERY_FIELDS = [
  "allowLargeResults",
  "clustering",
  "connectionProperties",
  "continuous",
  "createDisposition",
  "createSession",
  "defaultDataset",
  "destinationEncryptionConfiguration",
  "destinationTable",
  "flattenResults",
  "maximumBillingTier",
  "maximumBytesBilled",
  "priority",
  "rangePartitioning",
  "schemaUpdateOptions",
  "scriptOptions",
  "tableDefinitions",
  "timePartitioning",
  "useQueryCache",
  "userDefinedFunctions",
  "writeDisposition",
  "writeIncrementalResults",
];
const CANONICAL_NAMES = new Map(QUERY_FIELDS.map((name) => [name.toLowerCase(), name]));

/**
 * Project and location of the query, from the task's custom; names match in any case.
 * @throws PermanentFailure without a project.
 */
export function targetOf({ template }: TaskRequest): BigQueryTarget {
  const fields = customByName(template?.custom);
  const text = (name: string) => {
    const value = fields.get(name);
    return typeof value === "string" ? value : "";
  };
  const project = text("projectid");
  if (project === "") throw badTask("the task names no ProjectID in its config");
  return { project, location: text("location") };
}

/**
 * Configuration of the query job: fields of the task's custom, standard SQL, and
 * named parameters.
 * @throws PermanentFailure without a statement.
 */
export function queryConfiguration({ template }: TaskRequest, queryParameters: readonly QueryParameter[]): JsonObject {
  const statement = template?.target.case === "sql" ? template.target.value.statement : "";
  if (statement === "") throw badTask("the task has no SQL statement");
  const fields = [...customByName(template?.custom)].flatMap(([name, value]) => {
    const canonical = CANONICAL_NAMES.get(name);
    return canonical === undefined ? [] : [[canonical, value] as const];
  });
  return {
    ...Object.fromEntries(fields),
    query: statement,
    useLegacySql: false,
    ...(queryParameters.length > 0 && { parameterMode: "NAMED", queryParameters: queryParameters as unknown as JsonValue }),
  };
}

function customByName(custom: JsonObject | undefined): ReadonlyMap<string, JsonValue> {
  return new Map(Object.entries(custom ?? {}).flatMap(([name, value]) => (value === null ? [] : [[name.toLowerCase(), value]])));
}
