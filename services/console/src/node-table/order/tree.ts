import type { NodeTable } from "../table/node-table.js";
import { allRows, sortRows } from "./sort-rows.js";

/** Nodes by the nodes that enclose them. A node whose parent is not in the table is at the top. */
export interface NodeTree {
  /** Row of each row's parent, −1 at the top level. */
  readonly parent: Int32Array;
  /**
   * Start of a row's children in `children`, at index row + 1; index 0 stands for the top level.
   * The next index has the end.
   */
  readonly start: Int32Array;
  /** Rows, those of one parent together and in the order in which they were queued. */
  readonly children: Int32Array;
}

/** Builds the tree of a table's rows. */
export function buildTree(table: NodeTable): NodeTree {
  const { length } = table;
  const parent = parentRows(table);
  const start = new Int32Array(length + 2);
  for (let row = 0; row < length; row++) start[(parent[row] as number) + 2] = (start[(parent[row] as number) + 2] as number) + 1;
  for (let slot = 1; slot < start.length; slot++) start[slot] = (start[slot] as number) + (start[slot - 1] as number);
  const next = start.slice();
  const children = new Int32Array(length);
  const order = allRows(length);
  sortRows(order, table.queued);
  for (let at = 0; at < length; at++) {
    const row = order[at] as number;
    const slot = (parent[row] as number) + 1;
    const place = next[slot] as number;
    children[place] = row;
    next[slot] = place + 1;
  }
  return { parent, start, children };
}

/** Returns the number of children of a row; of the top level for −1. */
export function childCount({ start }: NodeTree, row: number): number {
  return (start[row + 2] as number) - (start[row + 1] as number);
}

function parentRows(table: NodeTable): Int32Array {
  const rows = new Int32Array(table.length);
  // Siblings mostly follow each other.
  let [key, parent] = [0, -1];
  for (let row = 0; row < rows.length; row++) {
    if (table.parent[row] !== key) {
      key = table.parent[row] as number;
      parent = key === 0 ? -1 : table.rowOf(key);
    }
    rows[row] = parent === row ? -1 : parent;
  }
  return rows;
}
