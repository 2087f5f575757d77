import { countActivity } from "../measure/activity.js";
import { childCount } from "../order/tree.js";
import type { NodeTable } from "../table/node-table.js";
import type { OverviewCounts } from "./protocol.js";
import type { TableView } from "./table-view.js";

/** Parts of the time from the creation to now. */
const BUCKETS = 1024;

/**
 * Counts the nodes at once from the creation of the execution to now; undefined before the first
 * event. Nodes that only enclose others, and gates, do not count.
 */
export function countOverview({ table, tree }: TableView, nowMs: number): OverviewCounts | undefined {
  if (nowMs <= 0 || tree.parent.length === 0) return undefined;
  const rows = new Int32Array(tree.parent.length);
  let found = 0;
  for (let row = 0; row < rows.length; row++) if (isWork(table, row, childCount(tree, row) > 0)) rows[found++] = row;
  const span = { fromMs: 0, toMs: nowMs };
  return { ...span, activity: countActivity(table, rows.subarray(0, found), nowMs, { ...span, count: BUCKETS }) };
}

/** Reports whether a row waits for or does work: not one that encloses others, nor a gate. */
function isWork({ attempts, flags, started }: NodeTable, row: number, hasChildren: boolean): boolean {
  if ((attempts[row] as number) > 0) return true;
  return !hasChildren && (flags[row] !== 0 || started[row] === Number.POSITIVE_INFINITY);
}
