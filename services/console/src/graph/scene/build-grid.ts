import type { SceneGrid } from "./scene.js";

/** Boxes of nodes. */
export interface Boxes {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly width: ArrayLike<number>;
  readonly height: ArrayLike<number>;
}

/** Size of a cell, so that few nodes touch it. */
const CELL = { width: 512, height: 256 } as const;
/** Cells in a direction, at most: long graphs have wider ones. */
const MAX_CELLS = 2_048;

/** Lists the nodes that touch each cell of a grid over a scene. */
export function buildGrid(boxes: Boxes, totalWidth: number, totalHeight: number): SceneGrid {
  const cellWidth = Math.max(CELL.width, totalWidth / MAX_CELLS);
  const cellHeight = Math.max(CELL.height, totalHeight / MAX_CELLS);
  const shape = { cellWidth, cellHeight, columns: Math.floor(totalWidth / cellWidth) + 1, rows: Math.floor(totalHeight / cellHeight) + 1 };
  const start = new Int32Array(shape.columns * shape.rows + 1);
  eachTouch(boxes, shape, (cell) => void (start[cell + 1] as number)++);
  for (let cell = 0; cell + 1 < start.length; cell++) (start[cell + 1] as number) += start[cell] as number;
  const next = start.slice(0, start.length - 1);
  const nodes = new Int32Array(start[start.length - 1] as number);
  eachTouch(boxes, shape, (cell, node) => {
    nodes[(next[cell] as number)++] = node;
  });
  return { ...shape, start, nodes };
}

type Shape = Pick<SceneGrid, "cellWidth" | "cellHeight" | "columns" | "rows">;

function eachTouch({ x, y, width, height }: Boxes, shape: Shape, visit: (cell: number, node: number) => void): void {
  for (let node = 0; node < x.length; node++) {
    const [left, top] = [x[node] as number, y[node] as number];
    eachCell(shape, { left, top, right: left + (width[node] as number), bottom: top + (height[node] as number) }, (cell) =>
      visit(cell, node),
    );
  }
}

/** A rectangle in pixels at 100 % zoom. */
export interface Rect {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Visits the cells that a rectangle touches. */
export function eachCell(
  { cellWidth, cellHeight, columns, rows }: Shape,
  { left, top, right, bottom }: Rect,
  visit: (cell: number) => void,
): void {
  const lastColumn = Math.min(Math.floor(right / cellWidth), columns - 1);
  const lastRow = Math.min(Math.floor(bottom / cellHeight), rows - 1);
  for (let row = Math.max(Math.floor(top / cellHeight), 0); row <= lastRow; row++)
    for (let column = Math.max(Math.floor(left / cellWidth), 0); column <= lastColumn; column++) visit(row * columns + column);
}

/** Boxes with the grid over them. */
export interface GriddedBoxes extends Boxes {
  readonly grid: SceneGrid;
}

/**
 * Calls `visit` with each node that a rectangle touches, once, in the order of cells. `limit` ends
 * the search after that many. Returns their number.
 */
export function eachNodeIn(boxes: GriddedBoxes, rect: Rect, visit: (node: number) => void, limit = Number.POSITIVE_INFINITY): number {
  const { grid, x, y, width, height } = boxes;
  let found = 0;
  eachCell(grid, rect, (cell) => {
    if (found >= limit) return;
    for (let at = grid.start[cell] as number; at < (grid.start[cell + 1] as number); at++) {
      const node = grid.nodes[at] as number;
      const [left, top] = [x[node] as number, y[node] as number];
      const isBeside = left > rect.right || left + (width[node] as number) < rect.left;
      if (isBeside || top > rect.bottom || top + (height[node] as number) < rect.top) continue;
      if (cell !== firstCell(grid, rect, left, top)) continue;
      found++;
      visit(node);
    }
  });
  return found;
}

/** The first cell of a rectangle that a box with this corner touches. */
function firstCell({ cellWidth, cellHeight, columns }: Shape, rect: Rect, left: number, top: number): number {
  const column = Math.max(Math.floor(Math.max(left, rect.left) / cellWidth), 0);
  const row = Math.max(Math.floor(Math.max(top, rect.top) / cellHeight), 0);
  return row * columns + column;
}
