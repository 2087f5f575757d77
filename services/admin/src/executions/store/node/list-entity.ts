import { baseColumns, type ListEntity } from "../../../platform/index.js";
import { executionTable } from "../execution/list-entity.js";

const text = { type: "text" } as const;
const ofExecution = (column: string) =>
  ({ type: "text", sql: `(SELECT e.${column} FROM executions e WHERE e.id = node_executions.execution_id)` }) as const;

/** Columns of node executions that clients may name. */
export const nodeExecutionTable = {
  table: "node_executions",
  columns: {
    ...baseColumns,
    id: { type: "int8", order: ["created_at", "id"] },
    execution_project: ofExecution("execution_project"),
    execution_domain: ofExecution("execution_domain"),
    execution_name: ofExecution("execution_name"),
    node_id: text,
    phase: text,
    input_uri: text,
    closure: { type: "bytes", sql: "NULL::bytea" },
    started_at: { type: "timestamp" },
    node_execution_created_at: { type: "timestamp" },
    node_execution_updated_at: { type: "timestamp" },
    duration: { type: "duration" },
    node_execution_metadata: { type: "bytes", sql: "NULL::bytea" },
    parent_id: {
      type: "int8",
      // All rows of a list have the same parent.
      order: [],
      sql: `(SELECT p.id FROM node_executions p WHERE p.execution_id = node_executions.execution_id
        AND p.node_id = node_executions.parent_node_id)`,
    },
    parent_task_execution_id: { type: "int8", sql: "NULL::bigint", order: [] },
    error_kind: text,
    error_code: text,
    cache_status: text,
    dynamic_workflow_remote_closure_reference: { type: "text", sql: "''::text", order: [] },
    internal_data: { type: "bytes", sql: "NULL::bytea" },
  },
} as const satisfies Pick<ListEntity, "table" | "columns">;

/** Filters and sort keys of ListNodeExecutions. */
export const nodeExecutionEntity: ListEntity = {
  ...nodeExecutionTable,
  prefix: "node_execution",
  key: "id",
  order: ["created_at", "id"],
  related: {
    execution: { ...executionTable, kind: "join", on: "executions.id = node_executions.execution_id" },
  },
};
