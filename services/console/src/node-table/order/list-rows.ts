import { NODE_STATES } from "../table/node-state.js";
import type { NodeTable } from "../table/node-table.js";
import { groupByState, idOfGroup, idOfNode, MAX_UNGROUPED, type RowId } from "./group.js";
import { RowOrder } from "./row-order.js";
import { allRows, sortRows } from "./sort-rows.js";
import { childCount, type NodeTree } from "./tree.js";

/** Orders of the rows: the tree, or all nodes by start, or the slowest first. */
export type OrderKind = "tree" | "start" | "slowest";

/** Trees of at most this many rows are shown with all nodes open. */
export const MAX_OPEN_ROWS = 200;

/** Rows that a person has opened or closed. */
export type Expansion = ReadonlyMap<RowId, boolean>;

export interface TreeView {
  readonly table: NodeTable;
  readonly tree: NodeTree;
  /** 1 for each row that is shown; undefined: all. */
  readonly kept?: Uint8Array;
  readonly expansion: Expansion;
}

/** Reports whether the children of a node are shown. */
export function isExpanded({ table, kept, expansion }: TreeView, key: number): boolean {
  return expansion.get(idOfNode(key)) ?? (kept !== undefined || table.length <= MAX_OPEN_ROWS);
}

/** Lists the visible rows of the tree, nodes with more than MAX_UNGROUPED children by groups. */
export function listTree(view: TreeView): RowOrder {
  const { table, tree, expansion } = view;
  const order = new RowOrder(table.length, table.length + (groupedNodes(view) + 1) * NODE_STATES.length);
  const addRows = (rows: Int32Array, depth: number, above: number): void => {
    const place = { depth, position: 1, siblings: rows.length, above };
    for (let at = 0; at < rows.length; at++, place.position++) {
      const row = rows[at] as number;
      order.addNode(row, place);
      if (childCount(tree, row) > 0 && isExpanded(view, table.key[row] as number)) addChildren(row, depth + 1);
    }
  };
  /** Adds the children of a node whose row was added just before. */
  const addChildren = (parent: number, depth: number): void => {
    const above = order.length - 1;
    const children = shownChildren(view, parent);
    if (children.length <= MAX_UNGROUPED) return addRows(children, depth, above);
    const groups = groupByState(table, parent === -1 ? 0 : (table.key[parent] as number), children);
    for (const [at, group] of groups.entries()) {
      order.addGroup(group, { depth, position: at + 1, siblings: groups.length, above });
      if (expansion.get(idOfGroup(group)) === true) addRows(group.members, depth + 1, order.length - 1);
    }
  };
  addChildren(-1, 0);
  return order;
}

/** Returns the children of a row that are shown, at −1 those of the top level. */
export function shownChildren({ tree, kept }: TreeView, row: number): Int32Array {
  const children = tree.children.subarray(tree.start[row + 1], tree.start[row + 2]);
  return kept === undefined ? children : children.filter((child) => kept[child] === 1);
}

/** Counts the nodes whose children are grouped. */
function groupedNodes({ table, tree }: TreeView): number {
  let found = 0;
  for (let row = 0; row < table.length; row++) if (childCount(tree, row) > MAX_UNGROUPED) found++;
  return found;
}

/** Lists the nodes that match, all at one level: by start, those that have not started last. */
export function listByStart(table: NodeTable, matches?: Uint8Array): RowOrder {
  return listFlat(table, table.started, matches);
}

/** Lists the nodes that match, those first that have run longest at `nowMs`. */
export function listSlowest(table: NodeTable, nowMs: number, matches?: Uint8Array): RowOrder {
  const runMs = new Float64Array(table.length);
  for (let row = 0; row < runMs.length; row++) {
    const started = table.started[row] as number;
    const end = Math.min(table.ended[row] as number, Math.max(Math.round(nowMs), started));
    runMs[row] = started === Number.POSITIVE_INFINITY ? started : started - end;
  }
  return listFlat(table, runMs, matches);
}

function listFlat(table: NodeTable, values: Float64Array, matches: Uint8Array | undefined): RowOrder {
  const all = allRows(table.length);
  const rows = matches === undefined ? all : all.filter((row) => matches[row] === 1);
  sortRows(rows, values);
  const order = new RowOrder(table.length, rows.length);
  const place = { depth: 0, position: 1, siblings: rows.length, above: -1 };
  for (let at = 0; at < rows.length; at++, place.position++) order.addNode(rows[at] as number, place);
  return order;
}
