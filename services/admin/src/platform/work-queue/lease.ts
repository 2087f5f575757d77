import type { Queryable } from "@flyte-ts/postgres";
import { truncateReason } from "../sanitize-text.js";

/** A queue table. A worker claims a row until `available_at` and increments `attempts`. */
export interface QueueTable {
  readonly name: string;
  /** Column with the id. */
  readonly key: string;
  /** Column with the reason of the last failure. */
  readonly reason: string;
}

/** A row that this process has claimed. */
export interface ClaimedRow {
  readonly id: bigint;
  /** Number of claims, including this one; a worker with a lower number has lost the row. */
  readonly attempts: number;
}

/** Extends the leases of rows in progress. Skips rows that another worker has claimed since. */
export async function extendLeases(
  db: Queryable,
  { name, key }: QueueTable,
  { rows, leaseMs }: { readonly rows: readonly ClaimedRow[]; readonly leaseMs: number },
): Promise<void> {
  await db.query({
    name: `extend-${name}`,
    text: `UPDATE ${name} w SET available_at = now() + $3 * interval '1 millisecond'
      FROM unnest($1::bigint[], $2::int[]) AS held (id, attempts) WHERE w.${key} = held.id AND w.attempts = held.attempts`,
    values: [rows.map(({ id }) => id), rows.map(({ attempts }) => attempts), leaseMs],
  });
}

export interface Requeue {
  readonly row: ClaimedRow;
  readonly delayMs: number;
  readonly reason: string;
  /** Current time for tables that use an injected clock; default: the database's time. */
  readonly now?: Date;
}

/** Requeues a row after a failure. Skips a row that another worker has claimed since. */
export async function requeue(
  db: Queryable,
  { name, key, reason: column }: QueueTable,
  { row, delayMs, reason, now }: Requeue,
): Promise<void> {
  await db.query({
    name: `requeue-${name}`,
    text: `UPDATE ${name} SET available_at = coalesce($5::timestamptz, now()) + $3 * interval '1 millisecond', ${column} = $4
      WHERE ${key} = $1 AND attempts = $2`,
    values: [row.id, row.attempts, Math.round(delayMs), truncateReason(reason), now ?? null],
  });
}

/**
 * Deletes rows that were completed `keepDays` ago, in tables that keep them; returns their number.
 */
export async function pruneFinished(
  db: Queryable,
  { name, key }: QueueTable,
  { keepDays, limit }: { readonly keepDays: number; readonly limit: number },
): Promise<number> {
  const { rowCount } = await db.query({
    name: `prune-${name}`,
    text: `DELETE FROM ${name} WHERE ${key} IN (
        SELECT ${key} FROM ${name} WHERE state <> 'waiting' AND ended_at <= now() - $1 * interval '1 day' LIMIT $2)`,
    values: [keepDays, limit],
  });
  return rowCount;
}
