import { clampWindow, pxOf, type TimeWindow, timeOf } from "./time-window.js";

/** Distance from an edge of the window within which a pointer takes hold of it. */
const EDGE_PX = 6;

/** Part of a window that a pointer has taken hold of, and where. */
export interface Brush {
  readonly part: "from" | "to" | "whole" | "none";
  readonly timeMs: number;
  readonly window: TimeWindow;
}

/** Width and limits of the overview that is brushed. */
export interface BrushArea {
  readonly widthPx: number;
  readonly limits: TimeWindow;
}

/** Begins to brush at a pixel: an edge, the whole window, or, beside it, a new window. */
export function beginBrush(window: TimeWindow, px: number, { widthPx, limits }: BrushArea): Brush {
  const [from, to] = [pxOf(limits, widthPx, window.fromMs), pxOf(limits, widthPx, window.toMs)];
  const timeMs = timeOf(limits, widthPx, px);
  if (Math.abs(px - from) <= EDGE_PX) return { part: "from", timeMs, window };
  if (Math.abs(px - to) <= EDGE_PX) return { part: "to", timeMs, window };
  return { part: px > from && px < to ? "whole" : "none", timeMs, window };
}

/** Returns the window after a pointer has moved to a pixel. */
export function moveBrush({ part, timeMs, window }: Brush, px: number, { widthPx, limits }: BrushArea): TimeWindow {
  const now = Math.min(Math.max(timeOf(limits, widthPx, px), limits.fromMs), limits.toMs);
  const byMs = now - timeMs;
  if (part === "whole") return clampWindow({ fromMs: window.fromMs + byMs, toMs: window.toMs + byMs }, limits);
  const fixedMs = part === "from" ? window.toMs : part === "to" ? window.fromMs : timeMs;
  return clampWindow({ fromMs: Math.min(fixedMs, now), toMs: Math.max(fixedMs, now) }, limits);
}
