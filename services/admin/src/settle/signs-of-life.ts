import { bigintArray, type Queryable } from "@flyte-ts/postgres";

/**
 * Takes up that something of these executions was reported to run. One that has ended is
 * then settled again; and where admin ended it without its engine, a data plane that has
 * come back runs what nobody wants: its abort is owed again.
 */
export async function noteSignsOfLife(db: Queryable, executionIds: readonly bigint[]): Promise<void> {
  if (executionIds.length === 0) return;
  await db.query({
    name: "note-signs-of-life",
    text: `WITH unsettled AS (UPDATE executions SET settled_at = NULL WHERE id = ANY($1::bigint[]) AND settled_at IS NOT NULL)
      INSERT INTO execution_outbox (execution_id, action)
      SELECT id, 'abort' FROM executions WHERE id = ANY($1::bigint[]) AND abort_forced ON CONFLICT DO NOTHING`,
    values: [bigintArray(executionIds)],
  });
}
