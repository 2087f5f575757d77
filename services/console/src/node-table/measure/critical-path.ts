import type { NodeTable } from "../table/node-table.js";
import { childCount, type NodeTree } from "../order/tree.js";

/**
 * Lists the rows that determine when the execution ends, in the order of time: the node that ends
 * last, before it the sibling whose end let it begin, and so on; within a node that has children,
 * theirs. The table has no dependencies: a node's predecessor is the sibling that ended last before
 * the node was queued, since propeller queues a node as soon as its last dependency has ended.
 *
 * @param nowMs end of what has not ended
 */
export function findCriticalPath(table: NodeTable, tree: NodeTree, nowMs: number): number[] {
  const path: number[] = [];
  // Backwards, from the end; parents come after their children here.
  const follow = (parent: number): void => {
    const rows = childrenByEnd(table, tree, parent);
    for (let limitMs = Number.POSITIVE_INFINITY, at = rows.length - 1; at >= 0; at--) {
      const row = rows[at] as number;
      if (Math.min(table.ended[row] as number, nowMs) > limitMs) continue;
      if (childCount(tree, row) > 0) follow(row);
      path.push(row);
      limitMs = table.queued[row] as number;
    }
  };
  follow(-1);
  return path.reverse();
}

/** Returns the children of a row that have started, by their ends; those that run come last. */
function childrenByEnd(table: NodeTable, tree: NodeTree, parent: number): Int32Array {
  const children = tree.children.subarray(tree.start[parent + 1], tree.start[parent + 2]);
  const started = children.filter((row) => (table.started[row] as number) < Number.POSITIVE_INFINITY);
  return started.sort((a, b) => {
    const [endA, endB] = [table.ended[a] as number, table.ended[b] as number];
    // Among nodes with the same end, the one that was queued first explains more of the time.
    return endA === endB ? (table.queued[b] as number) - (table.queued[a] as number) : endA - endB;
  });
}
