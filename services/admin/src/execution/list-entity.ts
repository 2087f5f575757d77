import { baseColumns, type EntityDescription } from "../list/entity.js";
import { launchPlanEntity } from "../launch-plan/list-entity.js";
import { taskEntity } from "../task/list-entity.js";
import { workflowEntity } from "../workflow/list-entity.js";

const text = { type: "text" } as const;
const tagColumns = { key: text, value: text, name: { type: "text", sql: "execution_tags.key" } } as const;
const tags = { kind: "exists", table: "execution_tags", on: "execution_tags.execution_id = executions.id", columns: tagColumns } as const;

/** Columns of executions that clients may name. */
export const executionTable = {
  table: "executions",
  columns: {
    ...baseColumns,
    execution_project: text,
    execution_domain: text,
    execution_name: text,
    launch_plan_id: { type: "int8" },
    workflow_id: { type: "int8" },
    task_id: { type: "int8" },
    phase: text,
    closure: { type: "bytes" },
    spec: { type: "bytes" },
    started_at: { type: "timestamp" },
    execution_created_at: { type: "timestamp" },
    execution_updated_at: { type: "timestamp" },
    duration: { type: "duration" },
    abort_cause: text,
    mode: { type: "int4" },
    source_execution_id: { type: "int8" },
    parent_node_execution_id: {
      type: "int8",
      sql: `(SELECT n.id FROM node_executions n
        WHERE n.execution_id = executions.parent_execution_id AND n.node_id = executions.parent_node_id)`,
    },
    cluster: text,
    inputs_uri: text,
    user_inputs_uri: text,
    error_kind: text,
    error_code: text,
    user: { type: "text", sql: "executions.principal" },
    state: { type: "int4" },
    launch_entity: text,
  },
} as const satisfies Pick<EntityDescription, "table" | "columns">;

/** What ListExecutions can filter and sort by. */
export const executionEntity: EntityDescription = {
  ...executionTable,
  prefix: "execution",
  key: "id",
  related: {
    // The names stand in the row, too: so one index has them in the order of time.
    launch_plan: {
      kind: "join",
      table: "launch_plans",
      on: "launch_plans.id = executions.launch_plan_id",
      columns: { ...launchPlanEntity.columns, name: { type: "text", sql: "executions.launch_plan_name" } },
    },
    workflow: {
      kind: "join",
      table: "workflows",
      on: "workflows.id = executions.workflow_id",
      columns: { ...workflowEntity.columns, name: { type: "text", sql: "executions.workflow_name" } },
    },
    task: { kind: "join", table: "tasks", on: "tasks.id = executions.task_id", columns: taskEntity.columns },
    admin_tag: tags,
    execution_tag: tags,
    execution_admin_tag: tags,
  },
};
