import { bigintArray, type Queryable, textArray } from "@flyte-ts/postgres";
import { type ExecutionName } from "../model/identifier.js";
import { nameArrays } from "./name-arrays.js";

/** Attempts, with their events, and nodes that one call deletes. */
export interface ChildRowLimits {
  readonly attempts: number;
  readonly nodes: number;
}

/**
 * Deletes nodes, attempts and events of attempts of these executions, up to the limits. Returns
 * false when more may be left.
 */
export async function deleteChildRows(tx: Queryable, executionIds: readonly bigint[], limits: ChildRowLimits): Promise<boolean> {
  const { rows } = await tx.query<{ attempts: number; nodes: number }>({
    name: "delete-rows-of-executions",
    // Arrays of ids, instead of joins, keep the planner on the indexes of the ids.
    text: `WITH due AS MATERIALIZED (SELECT id FROM task_executions WHERE execution_id = ANY($1::bigint[]) LIMIT $2),
        events AS (DELETE FROM task_execution_events WHERE task_execution_id = ANY(ARRAY(SELECT id FROM due))),
        attempts AS (DELETE FROM task_executions WHERE id = ANY(ARRAY(SELECT id FROM due)) RETURNING id),
        nodes AS (DELETE FROM node_executions
          WHERE id = ANY(ARRAY(SELECT id FROM node_executions WHERE execution_id = ANY($1::bigint[]) LIMIT $3)) RETURNING id)
      SELECT (SELECT count(*)::int FROM attempts) AS attempts, (SELECT count(*)::int FROM nodes) AS nodes`,
    values: [bigintArray(executionIds), limits.attempts, limits.nodes],
  });
  const [deleted] = rows;
  return deleted !== undefined && deleted.attempts < limits.attempts && deleted.nodes < limits.nodes;
}

export interface DeletedExecution extends ExecutionName {
  readonly id: bigint;
  readonly keepsRawOutputs: boolean;
}

/**
 * Deletes executions without child rows, and their signals; remembers the names of those whose raw
 * outputs stay, and the ids for {@link claimDeletedExecutions}. Returns the ids that existed.
 */
export async function deleteExecutionRows(tx: Queryable, executions: readonly DeletedExecution[], at: Date): Promise<ReadonlySet<bigint>> {
  const keeping = executions.filter(({ keepsRawOutputs }) => keepsRawOutputs);
  if (keeping.length > 0) await insertKeptRawOutputs(tx, keeping);
  const { rows } = await tx.query<{ id: bigint }>({
    name: "delete-executions",
    text: `WITH own_signals AS (DELETE FROM signals s USING unnest($2::text[], $3::text[], $4::text[]) AS e(project, domain, name)
        WHERE s.execution_project = e.project AND s.execution_domain = e.domain AND s.execution_name = e.name),
        gone AS (DELETE FROM executions WHERE id = ANY($1::bigint[]) RETURNING id)
      INSERT INTO deleted_executions (execution_id, deleted_at) SELECT id, $5 FROM gone RETURNING execution_id AS id`,
    values: [bigintArray(executions.map(({ id }) => id)), ...nameArrays(executions), at],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Returns, once only, the ids of executions that were deleted before this time. */
export async function claimDeletedExecutions(tx: Queryable, before: Date, limit: number): Promise<readonly bigint[]> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: "claim-deleted-executions",
    text: `DELETE FROM deleted_executions WHERE execution_id = ANY(ARRAY(
        SELECT execution_id FROM deleted_executions WHERE deleted_at < $1 ORDER BY deleted_at LIMIT $2 FOR UPDATE SKIP LOCKED))
      RETURNING execution_id AS id`,
    values: [before, limit],
  });
  return rows.map(({ id }) => id);
}

async function insertKeptRawOutputs(tx: Queryable, executions: readonly ExecutionName[]): Promise<void> {
  await tx.query({
    name: "keep-raw-outputs",
    text: "INSERT INTO kept_raw_outputs (execution_name) SELECT DISTINCT unnest($1::text[]) ORDER BY 1 ON CONFLICT DO NOTHING",
    values: [textArray(executions.map(({ name }) => name))],
  });
}
