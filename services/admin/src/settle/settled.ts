import type { Queryable } from "@flyte-ts/postgres";
import { executionsWithOpenRows } from "./open-rows.js";

// An execution that has ended is marked as settled when none of its nodes and attempts is open. Whoever records something open of
// it takes the mark away, afterwards. So what came before the mark is seen by a look after it, and what came later takes it away.

/** Marks executions, and looks after it. */
export async function markSettled(db: Queryable, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query({ name: "mark-settled", text: "UPDATE executions SET settled_at = now() WHERE id = ANY($1::bigint[])", values: [ids] });
  await lookAfterMark(db, ids);
}

/** The look after the mark, wherever that was set: of those that have something open it is taken away again. */
export async function lookAfterMark(db: Queryable, ids: readonly bigint[]): Promise<void> {
  const open = await executionsWithOpenRows(db, ids);
  if (open.size === 0) return;
  await db.query({
    name: "unmark-settled",
    text: "UPDATE executions SET settled_at = NULL WHERE id = ANY($1::bigint[])",
    values: [[...open]],
  });
}
