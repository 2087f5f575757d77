import type { Queryable } from "@flyte-ts/postgres";
import type { ExecutionName } from "../../model/identifier.js";
import { sanitizeText } from "@flyte-ts/execution-state";
import { OUTBOX_CHANNEL } from "../execution/insert.js";

export interface Abort {
  readonly cause: string;
  readonly principal: string;
}

/**
 * True when an identical request aborted the execution at most 2 s ago: clients such as flytekit
 * retry at once when they get no response, and the execution may end in between. Flyte rejects a
 * later request.
 */
export async function hasJustBeenAborted(
  db: Queryable,
  { project, domain, name }: ExecutionName,
  { cause, principal }: Abort,
): Promise<boolean> {
  const { rows } = await db.query({
    name: "find-repeated-abort",
    text: `SELECT 1 FROM executions WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3
      AND phase = 'ABORTED' AND abort_cause = $4 AND abort_principal = $5 AND abort_requested_at > now() - interval '2 seconds'`,
    values: [project, domain, name, sanitizeText(cause), principal],
  });
  return rows.length > 0;
}

/** Enqueues an abort in the outbox; an entry in backoff becomes due now. */
export async function enqueueAbort(tx: Queryable, rowId: bigint): Promise<void> {
  await tx.query({
    name: "enqueue-abort",
    text: `WITH entry AS (
        INSERT INTO execution_outbox (execution_id, action) VALUES ($1, 'abort')
        ON CONFLICT (execution_id, action) DO UPDATE SET available_at = now()
      ), launch AS (
        -- A launch that waits for its next try is dropped by the launcher once it sees the row.
        UPDATE execution_outbox SET available_at = least(available_at, now()) WHERE execution_id = $1 AND action = 'launch' AND last_error <> ''
      ), asked AS (
        UPDATE executions SET abort_requested_at = COALESCE(abort_requested_at, now()) WHERE id = $1
      ) SELECT pg_notify($2, '')`,
    values: [rowId, OUTBOX_CHANNEL],
  });
}
