import { ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { launchPlanEntity, taskEntity, workflowEntity } from "../../../registry/index.js";
import { baseColumns, type ListEntity } from "../../../platform/index.js";

const text = { type: "text" } as const;
const tagColumns = { key: text, value: text, name: { type: "text", sql: "execution_tags.key" } } as const;
const tags = {
  kind: "exists",
  table: "execution_tags",
  on: "execution_tags.execution_id = executions.id",
  columns: tagColumns,
  numbers: { column: "executions.id", references: { table: "execution_tags", columns: tagColumns }, idColumn: "execution_id" },
} as const;

/** Sort key of a low-cardinality column: ties are sorted by time. */
const sortedBefore = <T extends string>(name: T) => [name, "created_at", "id"] as const;
const byIndex = { from: "index" } as const;
const numberOnly = { of: "order", because: "a number that no answer shows" } as const;
const freeText = { of: "all", because: "text of any length, of which an index would be large" } as const;
const failedOnly = { of: "order", because: "only failed executions have one, and the index only them" } as const;
const address = { of: "all", because: "an address that follows from the execution's name" } as const;

/** Columns of executions that clients may name. */
export const executionTable = {
  table: "executions",
  columns: {
    ...baseColumns,
    // Ids follow insertion order, and an index has them by time.
    id: { type: "int8", order: ["created_at", "id"] },
    execution_project: text,
    execution_domain: text,
    execution_name: { type: "text", order: ["execution_name"] },
    launch_plan_id: { type: "int8", unindexed: numberOnly },
    workflow_id: { type: "int8", unindexed: numberOnly },
    task_id: { type: "int8", unindexed: numberOnly },
    phase: { type: "text", order: sortedBefore("phase"), lowCardinality: byIndex },
    closure: { type: "bytes" },
    spec: { type: "bytes" },
    started_at: { type: "timestamp" },
    execution_created_at: { type: "timestamp" },
    execution_updated_at: { type: "timestamp" },
    duration: { type: "duration" },
    abort_cause: { type: "text", unindexed: freeText },
    mode: { type: "int4", order: sortedBefore("mode"), lowCardinality: byIndex },
    source_execution_id: { type: "int8", unindexed: numberOnly },
    parent_node_execution_id: {
      type: "int8",
      unindexed: { of: "all", because: "a number that no answer shows" },
      sql: `(SELECT n.id FROM node_executions n
        WHERE n.execution_id = executions.parent_execution_id AND n.node_id = executions.parent_node_id)`,
    },
    cluster: { type: "text", order: sortedBefore("cluster"), lowCardinality: byIndex },
    inputs_uri: { type: "text", unindexed: address },
    user_inputs_uri: { type: "text", unindexed: address },
    error_kind: { type: "text", order: sortedBefore("error_kind"), lowCardinality: byIndex, unindexed: failedOnly },
    error_code: { type: "text", order: sortedBefore("error_code"), lowCardinality: byIndex, unindexed: failedOnly },
    user: { type: "text", sql: "executions.principal", order: sortedBefore("user"), lowCardinality: byIndex },
    state: {
      type: "int4",
      order: sortedBefore("state"),
      lowCardinality: {
        from: "values",
        values: Object.values(ExecutionState)
          .filter((state) => typeof state === "number")
          .map(String),
      },
      unindexed: { of: "order", because: "lists are of one state but for those that ask otherwise" },
    },
    launch_entity: {
      type: "text",
      order: sortedBefore("launch_entity"),
      lowCardinality: { from: "values", values: ["launch_plan", "task"] },
      unindexed: { of: "order", because: "of two values one is rare" },
    },
  },
} as const satisfies Pick<ListEntity, "table" | "columns">;

const nameInRow = (column: string, resourceType: ResourceType) =>
  ({ type: "text", sql: `executions.${column}`, lowCardinality: { from: "names", table: "named_entities", resourceType } }) as const;

/** Filters and sort keys of ListExecutions. */
export const executionEntity: ListEntity = {
  ...executionTable,
  prefix: "execution",
  key: "id",
  order: ["created_at", "id"],
  related: {
    // The row of the execution contains the launch plan's name as well, so that one index sorts by
    // name and time.
    launch_plan: {
      kind: "join",
      table: "launch_plans",
      on: "launch_plans.id = executions.launch_plan_id",
      columns: { ...launchPlanEntity.columns, name: nameInRow("launch_plan_name", ResourceType.LAUNCH_PLAN) },
      numbers: { column: "executions.launch_plan_id", order: "created_at", references: launchPlanEntity },
    },
    workflow: {
      kind: "join",
      table: "workflows",
      on: "workflows.id = executions.workflow_id",
      columns: { ...workflowEntity.columns, name: nameInRow("workflow_name", ResourceType.WORKFLOW) },
      numbers: { column: "executions.workflow_id", order: "created_at", references: workflowEntity },
    },
    task: {
      kind: "join",
      table: "tasks",
      on: "tasks.id = executions.task_id",
      columns: taskEntity.columns,
      numbers: { column: "executions.task_id", order: "created_at", references: taskEntity },
      implies: "executions.launch_entity = 'task'",
    },
    admin_tag: tags,
    execution_tag: tags,
    execution_admin_tag: tags,
  },
};
