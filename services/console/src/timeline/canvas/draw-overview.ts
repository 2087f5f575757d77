import { type TimeFolds } from "../../node-table/measure/time-folds.js";
import type { OverviewCounts } from "../../node-table/session/protocol.js";
import type { Tick } from "../axis/ticks.js";
import { pxOf, type TimeWindow, timeOf } from "../axis/time-window.js";
import { beginDrawing, type CanvasSize, type DrawContext, type TimelineColours } from "./draw-context.js";

/** Width of a column. Whole pixels without gaps: others become stripes. */
const COLUMN_PX = 2;
const TICK_PX = 18;
/** Room for the marks of failures above the columns. */
const MARK_PX = 5;
/** Width of a letter, about. */
const LETTER_PX = 6;
const SHADE_ALPHA = 0.35;

export interface OverviewFrame extends CanvasSize {
  readonly counts: OverviewCounts;
  /** Folded time of the whole overview. */
  readonly limits: TimeWindow;
  /** Part that the timeline shows. */
  readonly window: TimeWindow;
  readonly folds: TimeFolds;
  readonly ticks: readonly (Tick & { readonly text: string })[];
  readonly colours: TimelineColours;
}

/** Numbers of one column. */
interface OverviewColumn {
  readonly running: number;
  readonly queued: number;
  readonly failures: number;
}

/** Sums up the buckets of each column: most nodes at once, all failures. */
export function overviewColumns({ counts, limits, folds, widthPx }: OverviewFrame): OverviewColumn[] {
  const { fromMs, toMs, activity } = counts;
  const buckets = activity.queued.length;
  const bucketAt = (px: number): number => ((folds.unfold(timeOf(limits, widthPx, px)) - fromMs) / (toMs - fromMs)) * buckets;
  return Array.from({ length: Math.floor(widthPx / COLUMN_PX) }, (_, column) => {
    let [running, queued, failures] = [0, 0, 0];
    const first = Math.max(Math.floor(bucketAt(column * COLUMN_PX)), 0);
    const end = Math.min(Math.max(Math.floor(bucketAt((column + 1) * COLUMN_PX)), first + 1), buckets);
    for (let bucket = first; bucket < end; bucket++) {
      const ran = (activity.running[bucket] as number) + (activity.succeeding[bucket] as number) + (activity.failing[bucket] as number);
      running = Math.max(running, ran);
      queued = Math.max(queued, activity.queued[bucket] as number);
      failures += activity.failures[bucket] as number;
    }
    return { running, queued, failures };
  });
}

/** Returns the greatest number of nodes that run at once. */
export function greatestRunning({ activity }: OverviewCounts): number {
  let greatest = 0;
  for (let bucket = 0; bucket < activity.running.length; bucket++)
    greatest = Math.max(
      greatest,
      (activity.running[bucket] as number) + (activity.succeeding[bucket] as number) + (activity.failing[bucket] as number),
    );
  return Math.ceil(greatest);
}

/** Draws running and queued nodes at once, failures as marks, and the window of the timeline. */
export function drawOverview(context: DrawContext, frame: OverviewFrame): void {
  beginDrawing(context, frame);
  const { widthPx, heightPx, colours, ticks } = frame;
  const columns = overviewColumns(frame);
  const base = heightPx - TICK_PX;
  const perNode = (base - MARK_PX) / Math.max(...columns.map(({ running, queued }) => running + queued), 1);
  fillColumns(context, colours.states.running, columns, ({ running }) => ({ y: base - running * perNode, heightPx: running * perNode }));
  context.globalAlpha = 0.6;
  fillColumns(context, colours.states.queued, columns, ({ running, queued }) => ({
    y: base - (running + queued) * perNode,
    heightPx: queued * perNode,
  }));
  context.globalAlpha = 1;
  fillColumns(context, colours.states.failed, columns, ({ running, queued, failures }) =>
    failures === 0 ? undefined : { y: base - (running + queued) * perNode - MARK_PX + 1, heightPx: 3 },
  );
  context.fillStyle = colours.line;
  context.fillRect(0, base, widthPx, 1);
  context.fillStyle = colours.ink;
  context.font = colours.font;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const { px, text } of ticks) if (px + text.length * LETTER_PX <= widthPx) context.fillText(text, px + 2, base + TICK_PX / 2);
  drawWindow(context, frame, base);
}

/** Shades the time outside the window. */
function drawWindow(context: DrawContext, { window, limits, widthPx, colours }: OverviewFrame, base: number): void {
  const [from, to] = [pxOf(limits, widthPx, window.fromMs), pxOf(limits, widthPx, window.toMs)];
  if (from < 1 && to > widthPx - 1) return;
  context.globalAlpha = SHADE_ALPHA;
  context.fillStyle = colours.line;
  context.fillRect(0, 0, from, base);
  context.fillRect(to, 0, widthPx - to, base);
  context.globalAlpha = 1;
  context.fillStyle = colours.accent;
  context.fillRect(from, 0, 1, base);
  context.fillRect(to - 1, 0, 1, base);
}

type ColumnShape = (column: OverviewColumn) => { readonly y: number; readonly heightPx: number } | undefined;

function fillColumns(context: DrawContext, colour: string, columns: readonly OverviewColumn[], shapeOf: ColumnShape): void {
  context.fillStyle = colour;
  context.beginPath();
  for (const [at, column] of columns.entries()) {
    const shape = shapeOf(column);
    if (shape !== undefined && shape.heightPx > 0) context.rect(at * COLUMN_PX, shape.y, COLUMN_PX, shape.heightPx);
  }
  context.fill();
}
