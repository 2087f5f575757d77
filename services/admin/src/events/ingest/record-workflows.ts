import type { Queryable } from "@flyte-ts/postgres";
import { foldWorkflow, type WorkflowState } from "@flyte-ts/execution-state";
import { TooManyConflictsError, executionStates } from "../../executions/index.js";
import { groupBy } from "./group-by.js";
import type { DecodedEvent, BatchItem } from "../decoded-event.js";

type WorkflowBatchItem = BatchItem<Extract<DecodedEvent, { kind: "workflow" }>>;

const ROUNDS = 20;

/**
 * Records workflow events; returns the resulting states of their executions, by row id.
 *
 * @param complete Executions whose nodes and attempts are all terminal; their rows are marked so
 *   when they become terminal.
 */
export async function recordWorkflows(
  db: Queryable,
  items: readonly WorkflowBatchItem[],
  complete: ReadonlySet<bigint>,
): Promise<Map<bigint, WorkflowState>> {
  const result = new Map<bigint, WorkflowState>();
  let open = groupBy(items, ({ executionId }) => executionId);
  for (let round = 0; open.size > 0; round++) {
    if (round === ROUNDS) throw new TooManyConflictsError(`${open.size} executions could not be changed`);
    const stored = await executionStates.loadExecutionStates(db, [...open.keys()]);
    const writes = [];
    for (const [rowId, group] of open) {
      const before = stored.get(rowId);
      if (before === undefined) continue;
      const state = group.reduce((folded, { item }) => foldWorkflow(folded, item.fact, item.order), before.state);
      result.set(rowId, state);
      if (state === before.state) continue;
      const terminal = executionStates.becomesTerminal(before.state, state);
      writes.push({ rowId, state, revision: before.revision + 1, becomesTerminal: terminal, allTerminal: terminal && complete.has(rowId) });
    }
    if (writes.length === 0) break;
    const saved = await executionStates.saveExecutionStates(
      db,
      writes.toSorted((a, b) => (a.rowId < b.rowId ? -1 : 1)),
    );
    const lost = new Set(writes.filter(({ rowId }) => !saved.has(rowId)).map(({ rowId }) => rowId));
    open = new Map([...open].filter(([rowId]) => lost.has(rowId)));
  }
  return result;
}
