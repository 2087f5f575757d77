import { executionRows } from "../../../executions/index.js";
import type { DeletionDeps } from "./claimed-deletion.js";
import { LIMITS } from "./delete-rows.js";

/**
 * Time after the deletion of an execution, ms, after which no process still writes its child rows:
 * a statement ends within half a minute, and a replica of an older build within an upgrade.
 */
const LATE_MS = 3_600_000;

/**
 * Deletes child rows that were written after the deletion of their execution: a batch of events may
 * have found the execution just before, and child rows have no foreign key, which each of their
 * writes would check. Returns the number of executions.
 */
export function deleteLateRows({ db, clock }: Pick<DeletionDeps, "db" | "clock">, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    const ids = await executionRows.claimDeletedExecutions(tx, new Date(clock().getTime() - LATE_MS), limit);
    while (ids.length > 0 && !(await executionRows.deleteChildRows(tx, ids, LIMITS)));
    return ids.length;
  });
}
