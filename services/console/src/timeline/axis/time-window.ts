import type { TimeFolds } from "../../node-table/measure/time-folds.js";

/** Span of folded time that is in sight, milliseconds since the creation of the execution. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Shortest span that a window shows. */
export const MIN_SPAN_MS = 10;

/** Room after the last event, as a share of the time. */
const MARGIN_SHARE = 0.02;

/** Returns the window of all folded time of an execution that lasts until `nowMs`. */
export function wholeWindow(folds: TimeFolds, nowMs: number): TimeWindow {
  return { fromMs: 0, toMs: Math.max(folds.fold(nowMs), 1) * (1 + MARGIN_SHARE) };
}

export function spanOf({ fromMs, toMs }: TimeWindow): number {
  return toMs - fromMs;
}

/** Converts a time of a window to pixels of a width. */
export function pxOf(window: TimeWindow, widthPx: number, timeMs: number): number {
  return ((timeMs - window.fromMs) / spanOf(window)) * widthPx;
}

/** Inverts `pxOf`. */
export function timeOf(window: TimeWindow, widthPx: number, px: number): number {
  return window.fromMs + (px / widthPx) * spanOf(window);
}

/** Returns the window nearest to one that lies within limits and is not too short. */
export function clampWindow({ fromMs, toMs }: TimeWindow, limits: TimeWindow): TimeWindow {
  const longest = Math.max(spanOf(limits), MIN_SPAN_MS);
  const span = Math.min(Math.max(toMs - fromMs, MIN_SPAN_MS), longest);
  // A window that is too short or too long keeps its middle.
  const wanted = (fromMs + toMs - span) / 2;
  const start = Math.max(Math.min(wanted, limits.fromMs + longest - span), limits.fromMs);
  return { fromMs: start, toMs: start + span };
}

/** Zooms by a factor, above 1 to see less; the time at a share of the width stays where it is. */
export function zoomWindow(window: TimeWindow, factor: number, share: number, limits: TimeWindow): TimeWindow {
  const span = Math.min(Math.max(spanOf(window) / factor, MIN_SPAN_MS), Math.max(spanOf(limits), MIN_SPAN_MS));
  const fromMs = window.fromMs + (spanOf(window) - span) * share;
  return clampWindow({ fromMs, toMs: fromMs + span }, limits);
}

/** Moves a window by a share of its span; it stops at the limits. */
export function panWindow(window: TimeWindow, share: number, limits: TimeWindow): TimeWindow {
  const byMs = spanOf(window) * share;
  return clampWindow({ fromMs: window.fromMs + byMs, toMs: window.toMs + byMs }, limits);
}

/** Returns the window of the same span that ends at the end of the limits. */
export function followWindow(window: TimeWindow, limits: TimeWindow): TimeWindow {
  const byMs = limits.toMs - window.toMs;
  return clampWindow({ fromMs: window.fromMs + byMs, toMs: limits.toMs }, limits);
}
