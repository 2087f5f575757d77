import { type Activity, countActivity } from "../measure/activity.js";
import { TimeFolds } from "../measure/time-folds.js";
import { MAX_UNGROUPED } from "../order/group.js";
import { NodeState } from "../table/node-state.js";
import type { BarSlice, GroupActivity, ShownParts } from "./protocol.js";
import type { TableView } from "./table-view.js";

/** Cells that a slice has at most. */
export const MAX_BARS = 2048;

/** Copies the cells of a range of places at a level of the pyramid. */
export function sliceBars({ pyramid, table, order }: TableView, { from, to, level }: ShownParts["bars"]): BarSlice {
  const depth = Math.min(Math.max(level, 0), Math.max(pyramid.length - 1, 0));
  const cells = pyramid[depth];
  const first = Math.max(from, 0) >> depth;
  const end = Math.min(Math.ceil(to / 2 ** depth), cells?.queued.length ?? 0, first + MAX_BARS);
  const length = Math.max(end - first, 0);
  const [state, attempts] = [new Uint8Array(length), new Uint8Array(length)];
  for (let at = 0; at < length; at++) {
    const cell = first + at;
    const row = depth === 0 ? (order.entries[cell] as number) : -1;
    if (row >= 0) {
      state[at] = table.state[row] as number;
      attempts[at] = table.attempts[row] as number;
    } else if (depth === 0) state[at] = order.groupAt(cell)?.state ?? NodeState.queued;
    else if ((cells?.failed[cell] ?? 0) > 0) state[at] = NodeState.failed;
    else state[at] = (cells?.running[cell] ?? 0) > 0 ? NodeState.running : NodeState.succeeded;
  }
  const times = (column: Float64Array | undefined): Float64Array<ArrayBuffer> =>
    Float64Array.from(column?.subarray(first, first + length) ?? []);
  return {
    level: depth,
    from: first * 2 ** depth,
    queued: times(cells?.queued),
    started: times(cells?.started),
    ended: times(cells?.ended),
    state,
    attempts,
  };
}

/** Counts the nodes of the groups among single rows, and of nodes whose children are grouped. */
export function groupActivities(view: TableView, { bars, buckets, folds }: ShownParts, nowMs: number): GroupActivity[] {
  if (bars.level > 0 || buckets.count === 0 || !(buckets.toMs > buckets.fromMs)) return [];
  const span = { ...buckets, folds: new TimeFolds(folds.stretches, folds.foldedMs) };
  const found: GroupActivity[] = [];
  for (let place = Math.max(bars.from, 0); place < Math.min(bars.to, view.order.length); place++) {
    const members = view.order.groupAt(place)?.members ?? groupedChildren(view, view.order.entries[place] as number);
    if (members !== undefined) found.push({ place, activity: countActivity(view.table, members, nowMs, span) });
  }
  return found;
}

function groupedChildren(view: TableView, row: number): Int32Array | undefined {
  if (view.kind !== "tree") return undefined;
  const children = view.childrenOf(row);
  return children.length > MAX_UNGROUPED ? children : undefined;
}

/** Lists the buffers of an activity, which a message moves instead of copying. */
export function buffersOf({ queued, running, succeeding, failing, failures }: Activity): ArrayBuffer[] {
  return [queued, running, succeeding, failing, failures].map(({ buffer }) => buffer as ArrayBuffer);
}
