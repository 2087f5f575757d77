import type { Queryable } from "@flyte-ts/postgres";
import type { BatchItem, DecodedEvent } from "../decoded-event.js";
import { writeBlockers } from "../../executions/index.js";

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
