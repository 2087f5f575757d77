import type { Adjacency, Neighbours } from "./adjacency.js";
import { COLUMN_GAP, GAP_X, GAP_Y } from "./metrics.js";
import type { LayerOrder } from "./order-layers.js";
import { spreadColumn } from "./spread.js";

/** Sizes of nodes. */
export interface Sizes {
  readonly width: Float64Array;
  readonly height: Float64Array;
}

/** Places of nodes: their upper left corners, and the size of the whole. */
export interface Places {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly totalWidth: number;
  readonly totalHeight: number;
}

/** Layers of no more nodes stay one column. */
const MIN_ROWS = 24;
/** Width of a layout to its height, which wrapped layers aim at. */
const ASPECT = 1.8;
/** Passes that move nodes towards their neighbours: along the edges, against them, along them. */
const PASSES = 3;

export interface PlaceOptions extends Sizes {
  readonly order: LayerOrder;
  readonly adjacency: Adjacency;
}

/** Places layers from left to right; a layer that would be too high takes several columns. */
export function placeNodes({ order, adjacency, width, height }: PlaceOptions): Places {
  const count = order.start.length - 1;
  const rows = rowsOfColumns(order, { width, height });
  const x = new Float64Array(width.length);
  const centre = new Float64Array(width.length);
  let right = 0;
  for (let layer = 0; layer < count; layer++)
    right = placeLayer(order, layer, { rows, width, height, x, centre, left: layer === 0 ? 0 : right + GAP_X });
  for (let pass = 0; pass < PASSES; pass++) {
    const isDown = pass % 2 === 0;
    for (let step = 0; step < count; step++)
      moveLayer(order, isDown ? step : count - 1 - step, { rows, height, centre, neighbours: isDown ? adjacency.up : adjacency.down });
  }
  return { x, ...topsOf(centre, height), totalWidth: right };
}

/** Chooses the number of rows of a column, so that the whole has about the wished aspect. */
function rowsOfColumns({ start }: LayerOrder, { width, height }: Sizes): number {
  const count = start.length - 1;
  let most = 0;
  for (let layer = 0; layer < count; layer++) most = Math.max(most, (start[layer + 1] as number) - (start[layer] as number));
  const meanOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
  const [columnPx, rowPx] = [meanOf(width) + COLUMN_GAP, meanOf(height) + GAP_Y];
  const isWide = (rows: number): boolean => {
    let columns = 0;
    for (let layer = 0; layer < count; layer++) columns += Math.ceil(((start[layer + 1] as number) - (start[layer] as number)) / rows);
    return columns * columnPx + count * (GAP_X - COLUMN_GAP) > ASPECT * Math.min(rows, most) * rowPx;
  };
  let [low, high] = [MIN_ROWS, Math.max(most, MIN_ROWS)];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isWide(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface LayerOptions extends Sizes {
  readonly rows: number;
  readonly x: Float64Array;
  readonly centre: Float64Array;
  readonly left: number;
}

/** Stacks the nodes of a layer in columns around the middle; returns the right end. */
function placeLayer({ nodes, start }: LayerOrder, layer: number, { rows, width, height, x, centre, left }: LayerOptions): number {
  const end = start[layer + 1] as number;
  let right = left;
  for (let from = start[layer] as number; from < end; from += rows) {
    const to = Math.min(from + rows, end);
    const columnLeft = from === start[layer] ? left : right + COLUMN_GAP;
    let [widest, total] = [0, -GAP_Y];
    for (let index = from; index < to; index++) {
      const node = nodes[index] as number;
      widest = Math.max(widest, width[node] as number);
      total += (height[node] as number) + GAP_Y;
    }
    let top = -total / 2;
    for (let index = from; index < to; index++) {
      const node = nodes[index] as number;
      x[node] = columnLeft + (widest - (width[node] as number)) / 2;
      centre[node] = top + (height[node] as number) / 2;
      top += (height[node] as number) + GAP_Y;
    }
    right = columnLeft + widest;
  }
  return right;
}

interface MoveOptions {
  readonly rows: number;
  readonly height: Float64Array;
  readonly centre: Float64Array;
  readonly neighbours: Neighbours;
}

/** Moves the nodes of a layer towards the middle of their neighbours; columns of one move alike. */
function moveLayer({ nodes, start }: LayerOrder, layer: number, { rows, height, centre, neighbours }: MoveOptions): void {
  const [from, to] = [start[layer] as number, start[layer + 1] as number];
  if (to - from === 1) {
    const node = nodes[from] as number;
    centre[node] = wishOf(node, centre, neighbours);
    return;
  }
  const [heights, wishes] = [new Float64Array(to - from), new Float64Array(to - from)];
  let shift = 0;
  for (let index = from; index < to; index++) {
    const node = nodes[index] as number;
    heights[index - from] = height[node] as number;
    const wish = wishOf(node, centre, neighbours);
    wishes[index - from] = wish;
    shift += wish - (centre[node] as number);
  }
  const spread = to - from > rows ? undefined : spreadColumn({ heights, wishes, gap: GAP_Y });
  for (let index = from; index < to; index++) {
    const node = nodes[index] as number;
    centre[node] = spread === undefined ? (centre[node] as number) + shift / (to - from) : (spread[index - from] as number);
  }
}

/** Middle of the neighbours of a node; its own without any. */
function wishOf(node: number, centre: Float64Array, { offset, nodes }: Neighbours): number {
  const [first, end] = [offset[node] as number, offset[node + 1] as number];
  let sum = 0;
  for (let at = first; at < end; at++) sum += centre[nodes[at] as number] as number;
  return first === end ? (centre[node] as number) : sum / (end - first);
}

/** Moves everything so that the highest node begins at 0. */
function topsOf(centre: Float64Array, height: Float64Array): Pick<Places, "y" | "totalHeight"> {
  const y = new Float64Array(centre.length);
  let [top, bottom] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let node = 0; node < y.length; node++) {
    const half = (height[node] as number) / 2;
    top = Math.min(top, (centre[node] as number) - half);
    bottom = Math.max(bottom, (centre[node] as number) + half);
  }
  for (let node = 0; node < y.length; node++) y[node] = (centre[node] as number) - (height[node] as number) / 2 - top;
  return { y, totalHeight: y.length === 0 ? 0 : bottom - top };
}
