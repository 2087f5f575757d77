import { type DescMessage, fromJson, type MessageShape } from "@bufbuild/protobuf";
import { PrestoQuerySchema } from "@flyte-ts/idl/flyteidl/plugins/presto_pb";
import { QuboleHiveJobSchema } from "@flyte-ts/idl/flyteidl/plugins/qubole_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { badTask } from "./bad-task.js";

/**
 * A query of a `presto` or `hive` task, with its templates replaced. A field that the task does not
 * set is empty.
 */
export interface QueryTask {
  readonly statement: string;
  readonly database: string;
  readonly catalog: string;
  readonly workGroup: string;
}

/**
 * Reads the query of a task of type `presto` (PrestoQuery) or `hive` (QuboleHiveJob, whose cluster
 * label names the database).
 * @throws PermanentFailure without a statement or database.
 */
export function queryTask(template: TaskTemplate | undefined, render: (text: string) => string): QueryTask {
  const task = template?.type === "hive" ? hiveQuery(template) : prestoQuery(template);
  const rendered = {
    statement: render(task.statement),
    database: render(task.database),
    catalog: render(task.catalog),
    workGroup: render(task.workGroup),
  };
  if (rendered.statement === "") throw badTask("the task has no query");
  if (rendered.database === "") throw badTask("the task names no database (schema of presto tasks, cluster_label of hive tasks)");
  return rendered;
}

function prestoQuery(template: TaskTemplate | undefined): QueryTask {
  const { statement, schema, catalog, routingGroup } = readCustom(PrestoQuerySchema, template);
  return { statement, database: schema, catalog, workGroup: routingGroup };
}

function hiveQuery(template: TaskTemplate): QueryTask {
  const { query, clusterLabel } = readCustom(QuboleHiveJobSchema, template);
  return { statement: query?.query ?? "", database: clusterLabel, catalog: "", workGroup: "" };
}

/**
 * Reads the message in a task's `custom`, by JSON names or field names; unknown fields are ignored.
 * @throws PermanentFailure for values of another type.
 */
export function readCustom<Schema extends DescMessage>(schema: Schema, template: TaskTemplate | undefined): MessageShape<Schema> {
  try {
    return fromJson(schema, template?.custom ?? {}, { ignoreUnknownFields: true });
  } catch (error) {
    throw badTask(`custom is not a ${schema.typeName}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
