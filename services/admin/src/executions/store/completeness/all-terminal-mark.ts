import type { Queryable } from "@flyte-ts/postgres";
import { executionsWithNonTerminalRows } from "./non-terminal-rows.js";

// A terminal execution is marked once all its nodes and attempts are terminal. Writers of
// non-terminal rows clear the mark after their write, and the marker checks again after setting it.
// Hence the check finds earlier writes, and later ones clear the mark.

/** Marks executions, then checks again. */
export async function markAllTerminal(db: Queryable, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query({
    name: "mark-all-terminal",
    text: "UPDATE executions SET settled_at = now() WHERE id = ANY($1::bigint[])",
    values: [ids],
  });
  await recheckAllTerminalMark(db, ids);
}

/**
 * Checks executions again after they have been marked, whichever statement marked them: clears the
 * mark of executions with non-terminal rows.
 */
export async function recheckAllTerminalMark(db: Queryable, ids: readonly bigint[]): Promise<void> {
  const open = await executionsWithNonTerminalRows(db, ids);
  if (open.size === 0) return;
  await db.query({
    name: "unmark-all-terminal",
    text: "UPDATE executions SET settled_at = NULL WHERE id = ANY($1::bigint[])",
    values: [[...open]],
  });
}
