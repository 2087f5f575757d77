import type { Queryable } from "@flyte-ts/postgres";
import { reasonText } from "../storable-text.js";

/** A table whose rows are work. Who takes one has it until `available_at`, and counts up `attempts`. */
export interface WorkTable {
  readonly name: string;
  /** Column of the row's number. */
  readonly key: string;
  /** Column of why it could not be done the last time. */
  readonly reason: string;
}

/** A row that this process has taken. */
export interface TakenRow {
  readonly id: bigint;
  /** How often it has been taken, this time included: who has an older number has it no more. */
  readonly attempts: number;
}

/** Keeps what is still being worked on from falling due. What others have taken in the meantime is theirs. */
export async function extendLeases(
  db: Queryable,
  { name, key }: WorkTable,
  { rows, leaseMs }: { readonly rows: readonly TakenRow[]; readonly leaseMs: number },
): Promise<void> {
  await db.query({
    name: `extend-${name}`,
    text: `UPDATE ${name} w SET available_at = now() + $3 * interval '1 millisecond'
      FROM unnest($1::bigint[], $2::int[]) AS held (id, attempts) WHERE w.${key} = held.id AND w.attempts = held.attempts`,
    values: [rows.map(({ id }) => id), rows.map(({ attempts }) => attempts), leaseMs],
  });
}

export interface Postponed {
  readonly row: TakenRow;
  readonly delayMs: number;
  readonly reason: string;
  /** For tables whose times are those of a clock that is passed in; the others have the database's. */
  readonly now?: Date;
}

/** The work could not be done now and is due again later. A row that somebody else has taken meanwhile is theirs. */
export async function postpone(
  db: Queryable,
  { name, key, reason: column }: WorkTable,
  { row, delayMs, reason, now }: Postponed,
): Promise<void> {
  await db.query({
    name: `postpone-${name}`,
    text: `UPDATE ${name} SET available_at = coalesce($5::timestamptz, now()) + $3 * interval '1 millisecond', ${column} = $4
      WHERE ${key} = $1 AND attempts = $2`,
    values: [row.id, row.attempts, Math.round(delayMs), reasonText(reason), now ?? null],
  });
}

/** Removes rows, of a table that keeps them, that have been done for so long; gives how many. */
export async function forgetDone(
  db: Queryable,
  { name, key }: WorkTable,
  { keepDays, limit }: { readonly keepDays: number; readonly limit: number },
): Promise<number> {
  const { count } = await db.query({
    name: `forget-${name}`,
    text: `DELETE FROM ${name} WHERE ${key} IN (
        SELECT ${key} FROM ${name} WHERE state <> 'waiting' AND ended_at <= now() - $1 * interval '1 day' LIMIT $2)`,
    values: [keepDays, limit],
  });
  return count;
}
