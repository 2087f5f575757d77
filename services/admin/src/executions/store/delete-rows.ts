import { bigintArray, type Queryable, textArray } from "@flyte-ts/postgres";
import { type ExecutionName } from "../model/identifier.js";

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
  const ids = bigintArray(executionIds);
  // Arrays of ids, instead of joins, keep the planner on the indexes of the ids.
  const attempts = await tx.query({
    name: "delete-attempts-of-executions",
    text: `WITH due AS MATERIALIZED (SELECT id FROM task_executions WHERE execution_id = ANY($1::bigint[]) LIMIT $2),
        events AS (DELETE FROM task_execution_events WHERE task_execution_id = ANY(ARRAY(SELECT id FROM due)))
      DELETE FROM task_executions WHERE id = ANY(ARRAY(SELECT id FROM due))`,
    values: [ids, limits.attempts],
  });
  const nodes = await tx.query({
    name: "delete-nodes-of-executions",
    text: `DELETE FROM node_executions
      WHERE id = ANY(ARRAY(SELECT id FROM node_executions WHERE execution_id = ANY($1::bigint[]) LIMIT $2))`,
    values: [ids, limits.nodes],
  });
  return attempts.rowCount < limits.attempts && nodes.rowCount < limits.nodes;
}

/** Deletes executions without child rows, and their signals. Returns the ids that existed. */
export async function deleteExecutionRows(
  tx: Queryable,
  executions: readonly (ExecutionName & { readonly id: bigint })[],
): Promise<ReadonlySet<bigint>> {
  await tx.query({
    name: "delete-signals-of-executions",
    text: `DELETE FROM signals s USING unnest($1::text[], $2::text[], $3::text[]) AS e(project, domain, name)
      WHERE s.execution_project = e.project AND s.execution_domain = e.domain AND s.execution_name = e.name`,
    values: [
      textArray(executions.map(({ project }) => project)),
      textArray(executions.map(({ domain }) => domain)),
      textArray(executions.map(({ name }) => name)),
    ],
  });
  const { rows } = await tx.query<{ id: bigint }>({
    name: "delete-executions",
    text: "DELETE FROM executions WHERE id = ANY($1::bigint[]) RETURNING id",
    values: [bigintArray(executions.map(({ id }) => id))],
  });
  return new Set(rows.map(({ id }) => id));
}
