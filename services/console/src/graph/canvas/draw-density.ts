import type { DensityLevel } from "../layout/density.js";
import { GRAPH_STATES, NOT_BEGUN } from "../scene/node-phase.js";
import { seenRect } from "./camera.js";
import type { GraphContext, GraphFrame } from "./graph-frame.js";

/** Least size of a cell. */
const MIN_CELL_PX = 5.5;
const MIN_ALPHA = 0.4;
/** Opacity of what has not begun, against what has. */
const FAINT = 0.55;

/** Chooses the finest level whose cells are large enough to see. */
export function levelAt(levels: readonly DensityLevel[], scale: number, detail: number): DensityLevel | undefined {
  const leastPx = MIN_CELL_PX / detail;
  return levels.find(({ cellWidth, cellHeight }) => Math.min(cellWidth, cellHeight) * scale >= leastPx) ?? levels.at(-1);
}

/** Draws a square for each cell that has nodes; returns the number of squares. */
export function drawDensity(context: GraphContext, frame: GraphFrame): number {
  const { camera, colours, states } = frame;
  const level = levelAt(states.density, camera.scale, frame.detail);
  if (level === undefined) return 0;
  const { cellWidth, cellHeight, column, row, count, state } = level;
  const { left, top, right, bottom } = seenRect(camera, frame);
  const [widthPx, heightPx] = [cellWidth * camera.scale, cellHeight * camera.scale];
  const gapPx = Math.min(widthPx, heightPx) > 2 ? 1 : 0;
  const most = fullCount(count);
  const seen: number[][] = GRAPH_STATES.map(() => []);
  for (let cell = 0; cell < count.length; cell++) {
    const [x, y] = [(column[cell] as number) * cellWidth, (row[cell] as number) * cellHeight];
    if (x + cellWidth >= left && x <= right && y + cellHeight >= top && y <= bottom) seen[state[cell] as number]?.push(cell);
  }
  let drawn = 0;
  for (const [each, name] of GRAPH_STATES.entries()) {
    context.fillStyle = colours.states[name];
    for (const cell of seen[each] as number[]) {
      const share = Math.min((count[cell] as number) / most, 1);
      context.globalAlpha = (MIN_ALPHA + (1 - MIN_ALPHA) * share) * (each === NOT_BEGUN ? FAINT : 1);
      const x = ((column[cell] as number) * cellWidth - left) * camera.scale;
      const y = ((row[cell] as number) * cellHeight - top) * camera.scale;
      context.fillRect(x, y, Math.max(widthPx - gapPx, 1), Math.max(heightPx - gapPx, 1));
      drawn++;
    }
  }
  context.globalAlpha = 1;
  return drawn;
}

/** Number of nodes of a cell that counts as full. */
function fullCount(count: Int32Array): number {
  let most = 1;
  for (const each of count) if (each > most) most = each;
  return most;
}
