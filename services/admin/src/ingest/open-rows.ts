import type { Queryable } from "@flyte-ts/postgres";

/** Of these executions, those that have a node or an attempt whose end is not recorded. */
export async function executionsWithOpenRows(db: Queryable, executionIds: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  if (executionIds.length === 0) return new Set();
  const { rows } = await db.query<{ id: bigint }>({
    name: "executions-with-open-rows",
    text: `SELECT asked.id FROM unnest($1::bigint[]) AS asked(id)
      WHERE EXISTS (SELECT 1 FROM node_executions n WHERE n.execution_id = asked.id
          AND n.phase NOT IN ('SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'SKIPPED', 'RECOVERED'))
        OR EXISTS (SELECT 1 FROM task_executions t WHERE t.execution_id = asked.id AND t.phase NOT IN ('SUCCEEDED', 'FAILED', 'ABORTED'))`,
    values: [executionIds],
  });
  return new Set(rows.map(({ id }) => id));
}
