import type { Queryable } from "@flyte-ts/postgres";
import { foldNode, type NodeState } from "@flyte-ts/execution-state";
import { TooManyConflictsError, nodeStates } from "../../executions/index.js";
import { groupBy } from "./group-by.js";
import type { DecodedEvent, BatchItem } from "../decoded-event.js";

type NodeBatchItem = BatchItem<Extract<DecodedEvent, { kind: "node" }>>;

const ROUNDS = 20;
const keyOf = ({ executionId, item }: NodeBatchItem) => nodeStates.nodeKeyText({ executionId, nodeId: item.nodeId });

/**
 * Records node events. A parent need not be stored yet: children name it, and readers join them.
 */
export async function recordNodes(db: Queryable, items: readonly NodeBatchItem[]): Promise<void> {
  let open = groupBy(items, keyOf);
  for (let round = 0; open.size > 0; round++) {
    if (round === ROUNDS) throw new TooManyConflictsError(`${open.size} node executions could not be changed`);
    const keys = [...open.values()].map(([{ executionId, item }]) => ({ executionId, nodeId: item.nodeId }));
    const stored = await nodeStates.loadNodes(db, keys);
    const writes = new Map<string, nodeStates.NodeWrite>();
    for (const [key, group] of open) {
      const before = stored.get(key);
      const state = group.reduce<NodeState | undefined>((folded, { item }) => foldNode(folded, item.fact, item.order), before?.state);
      const [{ executionId, item }] = group;
      if (state === undefined || state === before?.state) continue;
      writes.set(key, { executionId, nodeId: item.nodeId, state, revision: (before?.revision ?? 0) + 1 });
    }
    if (writes.size === 0) return;
    const saved = await nodeStates.saveNodes(db, [...writes.values()]);
    open = new Map([...open].filter(([key]) => writes.has(key) && !saved.has(key)));
  }
}
