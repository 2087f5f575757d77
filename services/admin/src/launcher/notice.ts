import type { Queryable } from "@flyte-ts/postgres";
import { nanosOfDate } from "@flyte-ts/execution-state";
import { reasonText } from "../storable-text.js";

/** Says what keeps an execution from being launched; its engine, once it has begun, says for itself what is in the way. */
export async function noteWaiting(db: Queryable, executionId: bigint, { reason, now }: { reason: string; now: Date }): Promise<void> {
  await db.query({
    name: "note-waiting-launch",
    text: `UPDATE executions SET notice = $2, notice_ns = CASE WHEN notice = '' THEN $3 ELSE notice_ns END
      WHERE id = $1 AND notice_order < 0 AND notice <> $2 AND phase IN ('UNDEFINED', 'QUEUED')`,
    values: [executionId, reasonText(reason), nanosOfDate(now)],
  });
}

/** It is launched, and waits for nothing that is known here. */
export async function clearWaiting(db: Queryable, executionId: bigint): Promise<void> {
  await db.query({
    name: "clear-waiting-launch",
    text: "UPDATE executions SET notice = '', notice_ns = NULL WHERE id = $1 AND notice_order < 0 AND notice <> ''",
    values: [executionId],
  });
}
