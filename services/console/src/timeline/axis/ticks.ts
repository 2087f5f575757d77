import type { TimeFolds } from "../../node-table/measure/time-folds.js";
import { pxOf, spanOf, type TimeWindow } from "./time-window.js";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Distances of ticks that people count in, ascending. */
const STEPS_MS = [
  ...[1, 10, 100].flatMap((scale) => [scale, 2 * scale, 5 * scale]),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 30, 90, 365].map((days) => days * DAY_MS),
];
/** Least distance of ticks. */
const MIN_STEP_PX = 90;

export interface Tick {
  /** Milliseconds since the creation of the execution. */
  readonly timeMs: number;
  readonly px: number;
}

export interface TickOptions {
  readonly window: TimeWindow;
  readonly widthPx: number;
  readonly folds: TimeFolds;
  /** Time of the day at the creation, so that ticks are at whole minutes of the clock. */
  readonly alignMs: number;
}

/** Returns the distance of the ticks of a window. */
export function tickStepMs(window: TimeWindow, widthPx: number): number {
  const leastMs = (spanOf(window) / widthPx) * MIN_STEP_PX;
  return STEPS_MS.find((step) => step >= leastMs) ?? Math.ceil(leastMs / DAY_MS) * DAY_MS;
}

/** Lists the ticks of a window, none in a fold. */
export function ticksOf({ window, widthPx, folds, alignMs }: TickOptions): Tick[] {
  if (widthPx <= 0) return [];
  const step = tickStepMs(window, widthPx);
  const ticks: Tick[] = [];
  let timeMs = Math.ceil((folds.unfold(window.fromMs) + alignMs) / step) * step - alignMs;
  for (const endMs = folds.unfold(window.toMs); timeMs <= endMs; timeMs += step) {
    const fold = folds.stretches.find((each) => each.fromMs < timeMs && timeMs < each.toMs);
    // A long fold has more ticks than a person could see.
    if (fold !== undefined) timeMs += Math.floor((fold.toMs - timeMs) / step) * step;
    else ticks.push({ timeMs, px: pxOf(window, widthPx, folds.fold(timeMs)) });
  }
  return ticks;
}
