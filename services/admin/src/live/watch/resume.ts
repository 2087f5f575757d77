import { compareKeys, type Cursor } from "./cursor.js";
import type { WatchedRow } from "./row.js";
import { covers, sees, type Snapshot } from "./snapshot.js";

/** Rows that are told one after the other, and the moments between which they changed. */
export interface Stretch {
  readonly rows: readonly WatchedRow[];
  readonly before: Snapshot | undefined;
  readonly at: Snapshot;
}

export interface Now {
  /** By key. */
  readonly rows: readonly WatchedRow[];
  readonly at: Snapshot;
  readonly executionId: number;
  readonly executionHash: string;
}

/**
 * What a watcher that comes back has not been told. First the rest of the message that stopped in the middle: rows that
 * changed between its two moments and not since; then what has changed since. Undefined when the cursor says nothing of
 * this execution, or of this database: it is from a moment that has not been.
 */
export function untold(cursor: Cursor, { rows, at, executionId, executionHash }: Now): readonly Stretch[] | undefined {
  if (cursor.executionId !== executionId || !covers(at, cursor.at)) return undefined;
  const known = (row: WatchedRow, moment: Snapshot | undefined) =>
    moment !== undefined && row.writers.every((writer) => sees(moment, writer));
  const isTold = (row: WatchedRow) => row.key.kind === "execution" && cursor.executionHash === executionHash;
  const later = rows.filter((row) => !known(row, cursor.at) && !isTold(row));
  const stretches = [{ rows: later, before: cursor.at, at }];
  const { partial } = cursor;
  if (partial === undefined) return stretches;
  const rest = rows.filter((row) => known(row, cursor.at) && !known(row, partial.before) && compareKeys(row.key, partial.key) > 0);
  return [{ rows: rest, before: partial.before, at: cursor.at }, ...stretches];
}
