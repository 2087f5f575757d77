import { GRAPH_STATES, STANDING_OUT } from "../scene/node-phase.js";

/** Cells that have nodes, of one size. */
export interface DensityLevel {
  /** Size of a cell, in pixels at 100 % zoom. */
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly column: Int32Array<ArrayBuffer>;
  readonly row: Int32Array<ArrayBuffer>;
  /** Number of nodes. */
  readonly count: Int32Array<ArrayBuffer>;
  /** State that the cell shows. */
  readonly state: Uint8Array<ArrayBuffer>;
}

/** Middles of nodes, and their states. */
export interface DensityInput {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly state: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
}

/** Cells of the last level in each direction, at most. */
const MAX_LAST_CELLS = 64;
const STATES = GRAPH_STATES.length;

/** Counts nodes in cells, then in cells of twice that size, and so on. */
export function countDensity({ x, y, state, width, height, cellWidth, cellHeight }: DensityInput): DensityLevel[] {
  const nodes = new Float64Array(x.length);
  for (let node = 0; node < nodes.length; node++)
    nodes[node] = Math.floor((y[node] as number) / cellHeight) * LINE + Math.floor((x[node] as number) / cellWidth);
  const gridOf = (scale: number): Grid => ({
    columns: Math.floor(width / cellWidth / scale) + 1,
    rows: Math.floor(height / cellHeight / scale) + 1,
  });
  let cells = gather(nodes, gridOf(1), (node, counts, at) => void (counts[at + (state[node] as number)] as number)++);
  const levels = [levelOf(cells, cellWidth, cellHeight)];
  for (let scale = 2; Math.max(width / cellWidth, height / cellHeight) * 2 > MAX_LAST_CELLS * scale; scale *= 2) {
    const finer = cells;
    const halved = finer.keys.map((key) => Math.floor(Math.floor(key / LINE) / 2) * LINE + Math.floor((key % LINE) / 2));
    cells = gather(halved, gridOf(scale), (cell, counts, at) => {
      for (let each = 0; each < STATES; each++) (counts[at + each] as number) += finer.counts[cell * STATES + each] as number;
    });
    levels.push(levelOf(cells, cellWidth * scale, cellHeight * scale));
  }
  return levels;
}

/** Factor of the row in the key of a cell. */
const LINE = 2 ** 26;

/** Grids of more cells are looked up in a map. */
const MAX_DENSE_CELLS = 4_000_000;

/** Numbers of cells in both directions. */
interface Grid {
  readonly columns: number;
  readonly rows: number;
}

interface Cells {
  readonly keys: Float64Array;
  /** Numbers of nodes by cell and state. */
  readonly counts: Int32Array;
}

/** Sums up what has the same key, in the order in which keys first occur. */
function gather(keys: Float64Array, { columns, rows }: Grid, add: (index: number, counts: Int32Array, at: number) => void): Cells {
  const isSmall = columns * rows <= MAX_DENSE_CELLS;
  const dense = new Int32Array(isSmall ? columns * rows : 0);
  const sparse = new Map<number, number>();
  const found = new Float64Array(keys.length);
  const places = new Int32Array(keys.length);
  let length = 0;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as number;
    const cell = Math.floor(key / LINE) * columns + (key % LINE);
    // Places count from 1: 0 is a cell that has not occurred.
    let place = isSmall ? (dense[cell] as number) : (sparse.get(cell) ?? 0);
    if (place === 0) {
      found[length++] = key;
      place = length;
      if (isSmall) dense[cell] = place;
      else sparse.set(cell, place);
    }
    places[index] = place - 1;
  }
  const counts = new Int32Array(length * STATES);
  for (let index = 0; index < keys.length; index++) add(index, counts, (places[index] as number) * STATES);
  return { keys: found.slice(0, length), counts };
}

function levelOf({ keys, counts }: Cells, cellWidth: number, cellHeight: number): DensityLevel {
  const { length } = keys;
  const [column, row] = [new Int32Array(length), new Int32Array(length)];
  const [count, state] = [new Int32Array(length), new Uint8Array(length)];
  for (let cell = 0; cell < length; cell++) {
    column[cell] = (keys[cell] as number) % LINE;
    row[cell] = Math.floor((keys[cell] as number) / LINE);
    const ofCell = counts.subarray(cell * STATES, (cell + 1) * STATES);
    state[cell] = shownState(ofCell);
    let sum = 0;
    for (let each = 0; each < STATES; each++) sum += ofCell[each] as number;
    count[cell] = sum;
  }
  return { cellWidth, cellHeight, column, row, count, state };
}

/** Returns the state that a cell shows: one that stands out, else that of most nodes. */
export function shownState(counts: ArrayLike<number>): number {
  const found = STANDING_OUT.find((state) => (counts[state] as number) > 0);
  if (found !== undefined) return found;
  let most = 0;
  for (let state = 1; state < counts.length; state++) if ((counts[state] as number) > (counts[most] as number)) most = state;
  return most;
}
