import { NodeState } from "../table/node-state.js";
import type { NodeTable } from "../table/node-table.js";
import type { RowOrder } from "../order/row-order.js";

/** Cells of one level; each covers 2^level rows of the order. Times as in NodeTable. */
export interface PyramidLevel {
  /** Least of the rows. */
  readonly queued: Float64Array;
  /** Least of the rows, Infinity if none has started. */
  readonly started: Float64Array;
  /** Greatest of the rows, Infinity if one has not ended. */
  readonly ended: Float64Array;
  /** Number of nodes that have failed. */
  readonly failed: Int32Array;
  /** Number of nodes that run. */
  readonly running: Int32Array;
}

/** Rows of an order at every level of detail, from single rows to one cell of all. */
export type Pyramid = readonly PyramidLevel[];

function emptyLevel(length: number): PyramidLevel {
  const times = (): Float64Array => new Float64Array(length);
  return { queued: times(), started: times(), ended: times(), failed: new Int32Array(length), running: new Int32Array(length) };
}

/** Builds the pyramid of an order; `rows` cells at level 0, half as many at each further one. */
export function buildPyramid(table: NodeTable, order: RowOrder): Pyramid {
  const first = emptyLevel(order.length);
  const source = { table, order };
  for (let place = 0; place < order.length; place++) setCell(first, place, source);
  const levels = [first];
  for (let below = first; below.queued.length > 1; ) {
    const level = emptyLevel(Math.ceil(below.queued.length / 2));
    for (let cell = 0; cell < level.queued.length; cell++) join(level, cell, below);
    levels.push(level);
    below = level;
  }
  return levels;
}

/** Brings the cells above a place up to date with the table: one cell of each level. */
export function patchPyramid(pyramid: Pyramid, place: number, source: PyramidSource): void {
  const [first, ...above] = pyramid;
  if (first === undefined) return;
  setCell(first, place, source);
  let [below, cell] = [first, place];
  for (const level of above) {
    cell >>>= 1;
    join(level, cell, below);
    below = level;
  }
}

export interface PyramidSource {
  readonly table: NodeTable;
  readonly order: RowOrder;
}

/** Sets a cell of level 0 from a node, or from the members of a group. */
function setCell(level: PyramidLevel, place: number, { table, order }: PyramidSource): void {
  const row = order.entries[place] as number;
  if (row >= 0) {
    level.queued[place] = table.queued[row] as number;
    level.started[place] = table.started[row] as number;
    level.ended[place] = table.ended[row] as number;
    level.failed[place] = table.state[row] === NodeState.failed ? 1 : 0;
    level.running[place] = table.state[row] === NodeState.running ? 1 : 0;
    return;
  }
  let [queued, started, ended] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const { members, state } = order.groups[-1 - row] as (typeof order.groups)[number];
  for (let at = 0; at < members.length; at++) {
    const member = members[at] as number;
    queued = Math.min(queued, table.queued[member] as number);
    started = Math.min(started, table.started[member] as number);
    ended = Math.max(ended, table.ended[member] as number);
  }
  level.queued[place] = queued;
  level.started[place] = started;
  level.ended[place] = ended;
  level.failed[place] = state === NodeState.failed ? members.length : 0;
  level.running[place] = state === NodeState.running ? members.length : 0;
}

/** Sets a cell from the two cells of the level below; the last one may be alone. */
function join(level: PyramidLevel, cell: number, below: PyramidLevel): void {
  const left = cell * 2;
  const right = Math.min(left + 1, below.queued.length - 1);
  const isPair = right > left;
  level.queued[cell] = Math.min(below.queued[left] as number, below.queued[right] as number);
  level.started[cell] = Math.min(below.started[left] as number, below.started[right] as number);
  level.ended[cell] = Math.max(below.ended[left] as number, below.ended[right] as number);
  level.failed[cell] = (below.failed[left] as number) + (isPair ? (below.failed[right] as number) : 0);
  level.running[cell] = (below.running[left] as number) + (isPair ? (below.running[right] as number) : 0);
}
