import type { JsonValue } from "@bufbuild/protobuf";
import type { Queryable } from "@flyte-ts/postgres";
import { type ClaimedRow, type QueueTable, truncateReason } from "../../../platform/index.js";
import type { NewExecution } from "../execution/insert.js";
import { LAUNCHABLE_COLUMNS, type LaunchableRow } from "./launchable.js";

export const OUTBOX: QueueTable = { name: "execution_outbox", key: "id", reason: "last_error" };

export interface OutboxEntry extends ClaimedRow {
  readonly executionId: bigint;
  readonly action: "launch" | "abort";
  /** The cluster may still change: no request for the resource was sent yet. */
  readonly reassignable: boolean;
  /** Row at the time of the claim. */
  readonly row: LaunchableRow;
}

interface Row extends LaunchableRow {
  readonly id: bigint;
  readonly execution_id: bigint;
  readonly action: "launch" | "abort";
  readonly attempts: number;
  readonly movable: boolean;
}

/**
 * Claims due entries for `leaseMs`. Expired leases become due again. An abort waits until the
 * launch of the same execution is done.
 */
export async function claimEntries(db: Queryable, limit: number, leaseMs: number): Promise<readonly OutboxEntry[]> {
  const { rows } = await db.query<Row>({
    name: "claim-outbox",
    // Materialized: a plan that evaluates the selection per row would claim more than the limit.
    text: `WITH taken AS MATERIALIZED (
        SELECT id FROM execution_outbox due
        WHERE available_at <= now() AND (action = 'launch' OR NOT EXISTS (
          SELECT 1 FROM execution_outbox launch WHERE launch.execution_id = due.execution_id AND launch.action = 'launch'
        ))
        ORDER BY available_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
      )
      UPDATE execution_outbox o SET available_at = now() + $2 * interval '1 millisecond', attempts = o.attempts + 1
      FROM taken, executions e WHERE o.id = taken.id AND e.id = o.execution_id
      RETURNING o.id, o.execution_id, o.action, o.attempts, o.movable, ${LAUNCHABLE_COLUMNS}`,
    values: [limit, leaseMs],
  });
  return rows.map((row) => ({
    id: row.id,
    executionId: row.execution_id,
    action: row.action,
    attempts: row.attempts,
    reassignable: row.movable,
    row,
  }));
}

/** Builds the entry of a launch that was inserted as claimed. */
export function claimedEntry(
  execution: NewExecution,
  { rowId, entryId }: { readonly rowId: bigint; readonly entryId: bigint },
): OutboxEntry {
  const { project, domain, name, cluster, acceptedAt, inputs, launchSettings, reassignable } = execution;
  return {
    id: entryId,
    executionId: rowId,
    action: "launch",
    attempts: 1,
    reassignable,
    row: {
      execution_project: project,
      execution_domain: domain,
      execution_name: name,
      phase: "UNDEFINED",
      abort_forced: false,
      cluster,
      accepted_ns: acceptedAt,
      inputs,
      launch: JSON.parse(launchSettings) as JsonValue,
    },
  };
}

/** Deletes completed entries. Batches the deletes requested while a statement is running. */
export class BatchedDelete {
  #ids: bigint[] = [];
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(private readonly db: Queryable) {}

  delete(id: bigint): Promise<void> {
    this.#ids.push(id);
    this.#next ??= this.#last.then(() => this.#deletePending());
    return this.#next;
  }

  #deletePending(): Promise<void> {
    const values = [this.#ids];
    this.#ids = [];
    this.#next = undefined;
    const removed = this.db.query({ name: "remove-outbox", text: "DELETE FROM execution_outbox WHERE id = ANY($1::bigint[])", values });
    this.#last = removed.then(nothing, nothing);
    return removed.then(nothing);
  }
}

function nothing(): void {}

export interface EntryRequeue {
  readonly delayMs: number;
  readonly reason: string;
  /** The cluster may change again: the chosen one certainly did not create the resource. */
  readonly reassignable: boolean;
}

/** Requeues an entry after a failure. Skips an entry that another worker has claimed since. */
export async function requeueEntry(
  db: Queryable,
  { id, attempts }: OutboxEntry,
  { delayMs, reason, reassignable }: EntryRequeue,
): Promise<void> {
  await db.query({
    name: "postpone-outbox",
    text: `UPDATE execution_outbox SET available_at = now() + $3 * interval '1 millisecond', last_error = $4, movable = movable OR $5
      WHERE id = $1 AND attempts = $2`,
    values: [id, attempts, Math.round(delayMs), truncateReason(reason), reassignable],
  });
}

/** Makes entries in backoff for this cluster due now, and entries that may run on any cluster. */
export async function expediteEntries(db: Queryable, cluster: string, channel: string): Promise<void> {
  await db.query({
    name: "expedite-outbox",
    text: `WITH due AS (
        UPDATE execution_outbox o SET available_at = now() FROM executions e
        WHERE e.id = o.execution_id AND o.last_error <> '' AND o.available_at > now() AND (o.movable OR e.cluster = $1)
          AND o.available_at < now() + interval '40 seconds'
      ) SELECT pg_notify($2, '')`,
    values: [cluster, channel],
  });
}

/** Inserts a missing entry of an execution; no-op when it exists. */
export async function ensureEntry(db: Queryable, executionId: bigint, action: OutboxEntry["action"]): Promise<void> {
  await db.query({
    name: "restore-outbox",
    text: "INSERT INTO execution_outbox (execution_id, action) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    values: [executionId, action],
  });
}
