import type { Database, Queryable } from "@flyte-ts/postgres";
import { parseSnapshot, type Snapshot } from "./snapshot.js";

// Every row of PostgreSQL names the transaction that wrote it (the system column xmin), and a
// snapshot states for every transaction whether it was committed. Together they determine exactly
// which rows changed between two snapshots, for any writer, and without a column or an index that
// slows writers. The tables are read by execution: 1 ms for 1,000 nodes, about 100 ms for 100,000
// (docs/decisions/0027). Savepoints would break it: admin uses none.

/**
 * 64-bit id of a row's writer: xmin has only the lower 32 bits, and no visible row is newer than
 * the current snapshot.
 */
export const xidOf = (table: string) => `(moment.xmax - ((moment.xmax - ${table}.xmin::text::bigint) & 4294967295))`;

export const snapshotXmax = "(SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS xmax) AS moment";

/**
 * True when a row was written after the snapshot `given.since`. The first comparison decides for
 * most rows: they are older than any transaction that was running at the snapshot.
 */
export const changed = (table: string) =>
  `(${xidOf(table)} >= given.since_xmin AND NOT pg_visible_in_snapshot(${xidOf(table)}::text::xid8, given.since))`;

/** Runs all statements of `work` in one snapshot. */
export function inSnapshot<T>(db: Database, work: (tx: Queryable, snapshot: Snapshot) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.query({ text: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY" });
    const { rows } = await tx.query<{ snapshot: string }>({ name: "watch-moment", text: "SELECT pg_current_snapshot()::text AS snapshot" });
    const snapshot = parseSnapshot(rows[0]?.snapshot ?? "");
    if (snapshot === undefined) throw new Error("the database returned no snapshot");
    return work(tx, snapshot);
  });
}
