import { executionTable } from "../execution/list-entity.js";
import { baseColumns, type ListEntity } from "../../../platform/index.js";
import { taskEntity } from "../../../registry/index.js";
import { nodeExecutionTable } from "../node/list-entity.js";

const text = { type: "text" } as const;
const ofExecution = (column: string) =>
  ({ type: "text", sql: `(SELECT e.${column} FROM executions e WHERE e.id = task_executions.execution_id)` }) as const;

/** Filters and sort keys of ListTaskExecutions. */
export const taskExecutionEntity: ListEntity = {
  prefix: "task_execution",
  table: "task_executions",
  key: "id",
  columns: {
    ...baseColumns,
    // As in Flyte, project, domain and name are the execution's here; the task's have the prefix
    // `task.`.
    project: ofExecution("execution_project"),
    domain: ofExecution("execution_domain"),
    name: ofExecution("execution_name"),
    version: text,
    execution_project: ofExecution("execution_project"),
    execution_domain: ofExecution("execution_domain"),
    execution_name: ofExecution("execution_name"),
    node_id: text,
    retry_attempt: { type: "int8" },
    phase: text,
    phase_version: { type: "int8" },
    input_uri: text,
    closure: { type: "bytes", sql: "NULL::bytea" },
    started_at: { type: "timestamp" },
    task_execution_created_at: { type: "timestamp" },
    task_execution_updated_at: { type: "timestamp" },
    duration: { type: "duration" },
    internal_data: { type: "bytes", sql: "NULL::bytea" },
  },
  related: {
    task: {
      kind: "join",
      table: "tasks",
      on: `tasks.project = task_executions.project AND tasks.domain = task_executions.domain AND tasks.name = task_executions.name
        AND tasks.version = task_executions.version`,
      columns: taskEntity.columns,
    },
    execution: { ...executionTable, kind: "join", on: "executions.id = task_executions.execution_id" },
    node_execution: {
      ...nodeExecutionTable,
      kind: "join",
      on: "node_executions.execution_id = task_executions.execution_id AND node_executions.node_id = task_executions.node_id",
    },
  },
};
