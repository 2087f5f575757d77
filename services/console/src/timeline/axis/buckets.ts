import { spanOf, type TimeWindow } from "./time-window.js";

/** Greatest width of the parts of time in which groups show their nodes. */
const BUCKET_PX = 2;
/** Buckets begin and end at multiples of at most this share of the time in sight. */
const STEPS = 8;

export interface Buckets {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/**
 * Returns buckets that cover the time in sight and somewhat more. They stay the same while a window
 * grows a little, as that of a running execution does with every tick of its clock, so that nothing
 * is counted again; those of `isExact` follow the window.
 */
export function bucketsAround(window: TimeWindow, widthPx: number, isExact = false): Buckets {
  if (isExact) return { fromMs: window.fromMs, toMs: window.toMs, count: Math.ceil(widthPx / BUCKET_PX) };
  const stepMs = 2 ** Math.floor(Math.log2(spanOf(window) / STEPS));
  const [first, end] = [Math.floor(window.fromMs / stepMs), Math.ceil(window.toMs / stepMs)];
  return { fromMs: first * stepMs, toMs: end * stepMs, count: (end - first) * Math.ceil(widthPx / STEPS / BUCKET_PX) };
}
