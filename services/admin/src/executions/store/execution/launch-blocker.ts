import type { Queryable } from "@flyte-ts/postgres";
import { nanosOfDate } from "@flyte-ts/execution-state";
import { truncateReason } from "../../../platform/index.js";

/** Sets the launch blocker of an execution; its engine, once it runs, reports blockers itself. */
export async function setLaunchBlocker(db: Queryable, executionId: bigint, { reason, now }: { reason: string; now: Date }): Promise<void> {
  await db.query({
    name: "set-launch-blocker",
    text: `UPDATE executions SET notice = $2, notice_ns = CASE WHEN notice = '' THEN $3 ELSE notice_ns END
      WHERE id = $1 AND notice_order < 0 AND notice <> $2 AND phase IN ('UNDEFINED', 'QUEUED')`,
    values: [executionId, truncateReason(reason), nanosOfDate(now)],
  });
}

/** Clears the launch blocker of an execution. */
export async function clearLaunchBlocker(db: Queryable, executionId: bigint): Promise<void> {
  await db.query({
    name: "clear-launch-blocker",
    text: "UPDATE executions SET notice = '', notice_ns = NULL WHERE id = $1 AND notice_order < 0 AND notice <> ''",
    values: [executionId],
  });
}
