import { bigintArray, type Queryable, textArray } from "@flyte-ts/postgres";
import type { DecodedEvent, BatchItem } from "./decoded-event.js";

type BlockerEvent = BatchItem<Extract<DecodedEvent, { kind: "notice" }>>;

/** Records blockers of executions: the latest of each wins, whatever the order and repetition. */
export async function recordBlockers(db: Queryable, items: readonly BlockerEvent[]): Promise<void> {
  const latest = new Map<bigint, BlockerEvent>();
  for (const placed of items) {
    const before = latest.get(placed.executionId);
    if (before === undefined || before.item.order < placed.item.order) latest.set(placed.executionId, placed);
  }
  const rows = [...latest.values()].toSorted((a, b) => (a.executionId < b.executionId ? -1 : 1));
  await writeBlockers(
    db,
    rows.map(({ executionId, item }) => ({ executionId, reason: item.fact.reason, seq: item.order, at: item.fact.occurredAt })),
  );
}

export interface BlockerWrite {
  readonly executionId: bigint;
  /** Empty: nothing blocks the execution any more. */
  readonly reason: string;
  /** Sequence of the event: a later one replaces an earlier one. */
  readonly seq: bigint;
  /** Nanoseconds since 1970. */
  readonly at: bigint;
}

/** Stores blockers of executions unless a later one is stored. */
async function writeBlockers(db: Queryable, rows: readonly BlockerWrite[]): Promise<void> {
  await db.query({
    name: "write-blockers",
    text: `UPDATE executions SET notice = given.notice, notice_order = given.notice_order, notice_ns = given.notice_ns
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS given (id, notice, notice_order, notice_ns)
      WHERE executions.id = given.id AND executions.notice_order < given.notice_order`,
    values: [
      bigintArray(rows.map(({ executionId }) => executionId)),
      textArray(rows.map(({ reason }) => reason)),
      bigintArray(rows.map(({ seq }) => seq)),
      bigintArray(rows.map(({ at }) => at)),
    ],
  });
}
