import { NODE_STATES, NodeState } from "../../node-table/table/node-state.js";
import type { DrawContext } from "./draw-context.js";
import type { Frame } from "./frame.js";
import { MAX_FRAME_BARS, ROW_PX } from "./row-viewport.js";

const QUEUED_ALPHA = 0.55;
/** Least width of a bar, so that short ones are seen. */
const MIN_WIDTH_PX = 2;
const RADIUS_PX = 3;
/** Rows of at least this height have bars with round corners. */
const MIN_ROUND_PX = 12;

/** Cells of a slice that are in sight, first and end as indexes of its columns. */
export function cellsInSight({ bars, viewport }: Frame): { readonly first: number; readonly end: number } {
  const rows = 2 ** bars.level;
  const first = Math.max(Math.floor((viewport.top - bars.from) / rows), 0);
  const end = Math.ceil((viewport.top + viewport.heightPx / viewport.rowPx - bars.from) / rows);
  return { first, end: Math.min(end, bars.state.length, first + MAX_FRAME_BARS) };
}

/** Lines of a cell: the bar's top and height, and the height of what waits. */
interface BarShape {
  readonly heightPx: number;
  readonly offsetPx: number;
  readonly queuedPx: number;
  readonly isRound: boolean;
}

function shapeOf({ bars, viewport }: Frame): BarShape {
  const cellPx = viewport.rowPx * 2 ** bars.level;
  // Bars of single rows keep the proportions of the tree's rows; small ones touch each other.
  const heightPx = cellPx < MIN_ROUND_PX ? Math.max(cellPx - (cellPx > 4 ? 1 : 0), 1) : cellPx * (14 / ROW_PX);
  const offsetPx = (cellPx - heightPx) / 2;
  return { heightPx, offsetPx, queuedPx: Math.max(heightPx * 0.4, 1), isRound: cellPx >= MIN_ROUND_PX };
}

/** Draws the bars in sight; returns their number. */
export function drawBars(context: DrawContext, frame: Frame): number {
  const { first, end } = cellsInSight(frame);
  const shape = shapeOf(frame);
  context.globalAlpha = QUEUED_ALPHA;
  context.fillStyle = frame.colours.states.queued;
  const { queuedPx } = shape;
  for (let cell = first; cell < end; cell++) {
    if (frame.activePlaces.has(frame.bars.from + cell)) continue;
    const [from, to] = [frame.bars.queued[cell] as number, startOf(frame, cell)];
    const y = yOfCell(frame, cell) + shape.offsetPx + (shape.heightPx - queuedPx) / 2;
    const span = pixelsOf(frame, from, to, 0);
    if (span !== undefined) context.fillRect(span.x, y, span.widthPx, queuedPx);
  }
  context.globalAlpha = 1;
  let drawn = 0;
  for (const [state, name] of NODE_STATES.entries()) {
    context.fillStyle = frame.colours.states[name];
    drawn += drawState(context, frame, { state, first, end, shape });
  }
  drawRetries(context, frame, { first, end, shape });
  return drawn;
}

interface StateBars {
  readonly state: number;
  readonly first: number;
  readonly end: number;
  readonly shape: BarShape;
}

/** Draws the bars of one state as one path; those of cached nodes are hollow. */
function drawState(context: DrawContext, frame: Frame, { state, first, end, shape }: StateBars): number {
  const isHollow = state === NodeState.cached && shape.isRound;
  let drawn = 0;
  for (let cell = first; cell < end; cell++) {
    if (frame.bars.state[cell] !== state || frame.activePlaces.has(frame.bars.from + cell)) continue;
    const isWaiting = Math.min(frame.bars.started[cell] as number, frame.bars.ended[cell] as number) === Number.POSITIVE_INFINITY;
    const span = isWaiting ? undefined : pixelsOf(frame, startOf(frame, cell), endOf(frame, cell), MIN_WIDTH_PX);
    if (span === undefined) continue;
    if (drawn++ === 0) context.beginPath();
    const y = yOfCell(frame, cell) + shape.offsetPx;
    if (isHollow) context.roundRect(span.x + 0.5, y + 0.5, Math.max(span.widthPx - 1, 1), shape.heightPx - 1, RADIUS_PX);
    else if (shape.isRound) context.roundRect(span.x, y, span.widthPx, shape.heightPx, RADIUS_PX);
    else context.rect(span.x, y, span.widthPx, shape.heightPx);
  }
  if (drawn === 0) return 0;
  if (isHollow) {
    context.strokeStyle = frame.colours.states.cached;
    context.lineWidth = 1.5;
    context.stroke();
  } else context.fill();
  return drawn;
}

/** Marks the starts of nodes with more than one attempt; earlier attempts have no known times. */
function drawRetries(context: DrawContext, frame: Frame, { first, end, shape }: Omit<StateBars, "state">): void {
  context.fillStyle = frame.colours.states.failed;
  for (let cell = first; cell < end; cell++) {
    if ((frame.bars.attempts[cell] as number) < 2) continue;
    const span = pixelsOf(frame, startOf(frame, cell), endOf(frame, cell), MIN_WIDTH_PX);
    if (span !== undefined && span.x > 0) context.fillRect(span.x - 4, yOfCell(frame, cell) + shape.offsetPx, 2, shape.heightPx);
  }
}

/** Times of a frame's bars. */
type BarTimes = Pick<Frame, "bars" | "nowMs">;

/** Returns the start of a bar; the end for a node that never ran, now for one that has to. */
function startOf({ bars, nowMs }: BarTimes, cell: number): number {
  return Math.min(bars.started[cell] as number, bars.ended[cell] as number, nowMs);
}

function endOf(times: BarTimes, cell: number): number {
  const hasStarted = (times.bars.started[cell] as number) < Number.POSITIVE_INFINITY;
  return hasStarted ? Math.min(times.bars.ended[cell] as number, times.nowMs) : startOf(times, cell);
}

function yOfCell({ bars, viewport }: Frame, cell: number): number {
  return (bars.from + cell * 2 ** bars.level - viewport.top) * viewport.rowPx;
}

/** Returns the pixels of a stretch of time; undefined out of sight. */
export function pixelsOf(
  frame: Frame,
  fromMs: number,
  toMs: number,
  leastPx: number,
): { readonly x: number; readonly widthPx: number } | undefined {
  const { window, widthPx, folds } = frame;
  const perMs = widthPx / (window.toMs - window.fromMs);
  const isFolded = folds.stretches.length > 0;
  const x = ((isFolded ? folds.fold(fromMs) : fromMs) - window.fromMs) * perMs;
  const end = Math.max(((isFolded ? folds.fold(toMs) : toMs) - window.fromMs) * perMs, x + leastPx);
  if (!(end > 0) || x >= widthPx || end === x) return undefined;
  const start = Math.max(x, -RADIUS_PX);
  return { x: start, widthPx: Math.min(end, widthPx + RADIUS_PX) - start };
}
