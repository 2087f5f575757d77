import { pxOf } from "../axis/time-window.js";
import { cellsInSight, drawBars, pixelsOf } from "./draw-bars.js";
import { beginDrawing, type DrawContext } from "./draw-context.js";
import { drawGroups } from "./draw-groups.js";
import type { Frame } from "./frame.js";
import { yOf } from "./row-viewport.js";

const FOLD_ALPHA = 0.5;
const LABEL_GAP_PX = 6;
/** Width of a letter, about: measuring text takes longer than drawing it. */
const LETTER_PX = 6;

/** Draws a frame on the canvas of the data; returns the number of bars. */
export function drawFrame(context: DrawContext, frame: Frame): number {
  beginDrawing(context, frame);
  const { viewport, widthPx, heightPx, colours, selectedPlace } = frame;
  if (selectedPlace >= 0) {
    context.fillStyle = colours.selected;
    context.fillRect(0, yOf(viewport, selectedPlace), widthPx, Math.max(viewport.rowPx, 1));
  }
  context.fillStyle = colours.line;
  for (const { px } of frame.ticks) context.fillRect(Math.round(px), 0, 1, heightPx);
  drawFolds(context, frame);
  const bars = drawBars(context, frame);
  drawGroups(context, frame);
  drawCriticalPath(context, frame);
  drawLabels(context, frame);
  drawTickTexts(context, frame);
  if (frame.isLive) {
    context.fillStyle = colours.accent;
    context.fillRect(pxOf(frame.window, widthPx, frame.folds.fold(frame.nowMs)), 0, 1, heightPx);
  }
  return bars;
}

/** Marks the folds as bands between two lines. */
function drawFolds(context: DrawContext, { folds, window, widthPx, heightPx, colours }: Frame): void {
  context.fillStyle = colours.line;
  for (const { fromMs, toMs } of folds.stretches) {
    const from = pxOf(window, widthPx, folds.fold(fromMs));
    const to = pxOf(window, widthPx, folds.fold(toMs));
    if (to < 0 || from > widthPx) continue;
    context.globalAlpha = FOLD_ALPHA;
    context.fillRect(from, 0, to - from, heightPx);
    context.globalAlpha = 1;
    context.fillRect(from, 0, 1, heightPx);
    context.fillRect(to - 1, 0, 1, heightPx);
  }
}

/** Underlines the bars of the critical path. */
function drawCriticalPath(context: DrawContext, frame: Frame): void {
  const { bars, viewport, criticalPlaces, colours, nowMs } = frame;
  if (bars.level > 0 || criticalPlaces.size === 0) return;
  context.fillStyle = colours.accent;
  const { first, end } = cellsInSight(frame);
  for (let cell = first; cell < end; cell++) {
    const place = bars.from + cell;
    if (!criticalPlaces.has(place)) continue;
    const span = pixelsOf(frame, bars.queued[cell] as number, Math.min(bars.ended[cell] as number, nowMs), 2);
    if (span !== undefined) context.fillRect(span.x, yOf(viewport, place + 1) - 4, span.widthPx, 2);
  }
}

/** Writes the times of the ticks at the bottom, where they are not those of the overview. */
function drawTickTexts(context: DrawContext, { ticks, colours, heightPx }: Frame): void {
  context.fillStyle = colours.ink;
  context.font = colours.font;
  context.textAlign = "left";
  context.textBaseline = "bottom";
  for (const { px, text } of ticks) if (text !== "") context.fillText(text, px + 3, heightPx - 2);
}

/** Writes durations after the bars of single rows. */
function drawLabels(context: DrawContext, frame: Frame): void {
  const { bars, viewport, labels, colours, nowMs, widthPx } = frame;
  if (bars.level > 0) return;
  context.fillStyle = colours.ink;
  context.font = colours.font;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const { first, end } = cellsInSight(frame);
  for (let cell = first; cell < end; cell++) {
    const place = bars.from + cell;
    const label = labels.get(place);
    const started = bars.started[cell] as number;
    if (label === undefined || started > nowMs || frame.activePlaces.has(place)) continue;
    const span = pixelsOf(frame, started, Math.min(bars.ended[cell] as number, nowMs), 2);
    if (span === undefined) continue;
    const x = span.x + span.widthPx + LABEL_GAP_PX;
    if (x + label.length * LETTER_PX <= widthPx) context.fillText(label, x, yOf(viewport, place + 0.5));
  }
}
