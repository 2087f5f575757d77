import type { Queryable } from "@flyte-ts/postgres";
import type { ClaimedRow, QueueTable } from "../../platform/work-queue/lease.js";
import { truncateReason } from "../../platform/sanitize-text.js";
import { triggerColumns, type TriggerRow } from "./triggers.js";

export const FIRINGS: QueueTable = { name: "trigger_firings", key: "id", reason: "reason" };

/** A firing that this process has claimed. */
export interface ClaimedFiring extends ClaimedRow {
  /** Row at the time of the claim; decoded during processing, so that an invalid one does not block the others. */
  readonly trigger: TriggerRow;
  readonly source:
    | { readonly kind: "execution"; readonly rowId: bigint; readonly project: string; readonly domain: string; readonly name: string }
    | { readonly kind: "webhook"; readonly deliveryId: string; readonly body: Uint8Array };
  readonly at: Date;
  /** Execution to start. */
  readonly execution: { readonly project: string; readonly domain: string; readonly name: string };
  /** Time since the first attempt, ms. */
  readonly ageMs: number;
}

interface Row extends TriggerRow {
  firing_id: bigint;
  source_execution_id: bigint | null;
  source_project: string;
  source_domain: string;
  source_name: string;
  delivery_id: string;
  body: Uint8Array | null;
  happened_at: Date;
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  attempts: number;
  age_ms: number;
}

/** Claims firings that are due, until the lease expires. */
export async function claimFirings(db: Queryable, limit: number, leaseMs: number): Promise<readonly ClaimedFiring[]> {
  const { rows } = await db.query<Row>({
    name: "take-firings",
    text: `WITH taken AS MATERIALIZED (
        SELECT id FROM trigger_firings WHERE state = 'waiting' AND available_at <= now() ORDER BY available_at, id LIMIT $1
        FOR UPDATE SKIP LOCKED
      )
      UPDATE trigger_firings f SET available_at = now() + $2 * interval '1 millisecond', attempts = f.attempts + 1
      FROM taken, triggers t WHERE f.id = taken.id AND t.id = f.trigger_id
      RETURNING ${triggerColumns}, f.id AS firing_id, f.source_execution_id, f.source_project, f.source_domain, f.source_name,
        f.delivery_id, f.body, f.happened_at, f.execution_project, f.execution_domain, f.execution_name, f.attempts,
        (extract(epoch FROM now() - f.created_at) * 1000)::float8 AS age_ms`,
    values: [limit, leaseMs],
  });
  return rows.map((row) => ({
    id: row.firing_id,
    trigger: row,
    source:
      row.source_execution_id === null
        ? { kind: "webhook", deliveryId: row.delivery_id, body: row.body ?? new Uint8Array() }
        : {
            kind: "execution",
            rowId: row.source_execution_id,
            project: row.source_project,
            domain: row.source_domain,
            name: row.source_name,
          },
    at: row.happened_at,
    execution: { project: row.execution_project, domain: row.execution_domain, name: row.execution_name },
    attempts: row.attempts,
    ageMs: row.age_ms,
  }));
}

/** Completes a firing and deletes a webhook's body. */
export async function endFiring(
  db: Queryable,
  id: bigint,
  { state, reason }: { state: "started" | "refused"; reason: string },
): Promise<void> {
  await db.query({
    name: "end-firing",
    text: "UPDATE trigger_firings SET state = $2, reason = $3, body = NULL, ended_at = now() WHERE id = $1 AND state = 'waiting'",
    values: [id, state, truncateReason(reason)],
  });
}
