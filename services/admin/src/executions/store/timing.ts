import type { Queryable } from "@flyte-ts/postgres";

export interface TimesRow {
  first_ns: bigint;
  started_ns: bigint | null;
  updated_ns: bigint;
  ended_ns: bigint | null;
}

export interface NodeRow extends TimesRow {
  node_id: string;
  spec_node_id: string;
  parent_node_id: string | null;
  /** Set for a child execution. */
  target: Uint8Array | null;
}

export async function loadNodes(db: Queryable, executionId: bigint): Promise<readonly NodeRow[]> {
  const { rows } = await db.query<NodeRow>({
    name: "load-nodes-for-metrics",
    text: `SELECT node_id, spec_node_id, parent_node_id, first_ns, started_ns, updated_ns, ended_ns, target
      FROM node_executions WHERE execution_id = $1 ORDER BY first_ns, id`,
    values: [executionId],
  });
  return rows;
}

export interface TaskRow extends TimesRow {
  node_id: string;
  project: string;
  domain: string;
  name: string;
  version: string;
  retry_attempt: bigint;
}

/** Reads the attempts of an execution in order of time. */
export async function loadAttemptTimes(db: Queryable, executionId: bigint): Promise<readonly TaskRow[]> {
  const { rows } = await db.query<TaskRow>({
    name: "load-tasks-for-metrics",
    text: `SELECT node_id, project, domain, name, version, retry_attempt, first_ns, started_ns, updated_ns, ended_ns
      FROM task_executions WHERE execution_id = $1 ORDER BY first_ns, id`,
    values: [executionId],
  });
  return rows;
}

export interface DynamicWorkflowRow {
  readonly node_id: string;
  readonly dynamic_workflow: Uint8Array | null;
  readonly dynamic_workflow_uri: string;
}

/** Reads the workflows of the dynamic nodes of an execution. */
export async function loadDynamicWorkflows(db: Queryable, executionId: bigint): Promise<readonly DynamicWorkflowRow[]> {
  const { rows } = await db.query<DynamicWorkflowRow>({
    name: "load-dynamics-for-metrics",
    text: `SELECT node_id, dynamic_workflow, dynamic_workflow_uri FROM node_executions
      WHERE execution_id = $1 AND (dynamic_workflow IS NOT NULL OR dynamic_workflow_uri <> '')`,
    values: [executionId],
  });
  return rows;
}
