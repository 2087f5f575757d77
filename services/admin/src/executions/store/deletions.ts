import type { Queryable } from "@flyte-ts/postgres";

/** True when an execution is marked for deletion. */
export async function isBeingDeleted(db: Queryable, rowId: bigint): Promise<boolean> {
  const { rowCount: count } = await db.query({
    name: "is-being-deleted",
    text: "SELECT 1 FROM execution_deletions WHERE execution_id = $1",
    values: [rowId],
  });
  return count > 0;
}
