import { compareKeys, type Cursor } from "./cursor.js";
import type { WatchedRow } from "../../store/watch/row.js";
import { isAtLeast, isVisible, type Snapshot } from "../../store/watch/snapshot.js";

/** Consecutive rows to send, and the snapshots between which they changed. */
export interface ChangeBatch {
  readonly rows: readonly WatchedRow[];
  readonly before: Snapshot | undefined;
  readonly at: Snapshot;
}

export interface FeedState {
  /** By key. */
  readonly rows: readonly WatchedRow[];
  readonly at: Snapshot;
  readonly executionId: number;
  readonly executionHash: string;
}

/**
 * Returns the rows that a resuming watcher has not received: first the rest of the interrupted
 * message, that is, rows that changed between its two snapshots and not since; then later changes.
 * Undefined when the cursor belongs to another execution, or to another database, since its
 * snapshot is in the future.
 */
export function changesSince(cursor: Cursor, { rows, at, executionId, executionHash }: FeedState): readonly ChangeBatch[] | undefined {
  if (cursor.executionId !== executionId || !isAtLeast(at, cursor.at)) return undefined;
  const known = (row: WatchedRow, moment: Snapshot | undefined) =>
    moment !== undefined && row.writers.every((writer) => isVisible(moment, writer));
  const isSent = (row: WatchedRow) => row.key.kind === "execution" && cursor.executionHash === executionHash;
  const later = rows.filter((row) => !known(row, cursor.at) && !isSent(row));
  const batches = [{ rows: later, before: cursor.at, at }];
  const { partial } = cursor;
  if (partial === undefined) return batches;
  const rest = rows.filter((row) => known(row, cursor.at) && !known(row, partial.before) && compareKeys(row.key, partial.key) > 0);
  return [{ rows: rest, before: partial.before, at: cursor.at }, ...batches];
}
