import { bigintArray, type Queryable } from "@flyte-ts/postgres";

/**
 * Handles non-terminal events. For a terminal execution it clears the mark that all rows are
 * terminal; after an abort without the engine it enqueues another abort, since a recovered data
 * plane still runs the execution.
 */
export async function recordActivity(db: Queryable, executionIds: readonly bigint[]): Promise<void> {
  if (executionIds.length === 0) return;
  await db.query({
    name: "record-activity",
    text: `WITH unsettled AS (UPDATE executions SET settled_at = NULL WHERE id = ANY($1::bigint[]) AND settled_at IS NOT NULL)
      INSERT INTO execution_outbox (execution_id, action)
      SELECT id, 'abort' FROM executions WHERE id = ANY($1::bigint[]) AND abort_forced ON CONFLICT DO NOTHING`,
    values: [bigintArray(executionIds)],
  });
}
