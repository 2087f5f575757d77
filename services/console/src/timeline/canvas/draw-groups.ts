import type { Activity } from "../../node-table/measure/activity.js";
import { NODE_STATES } from "../../node-table/table/node-state.js";
import type { DrawContext, TimelineColours } from "./draw-context.js";
import type { Frame } from "./frame.js";
import { ROW_PX, yOf } from "./row-viewport.js";

/** Height of the bucket with the most nodes, and of one with few. */
const FULL_SHARE = 16 / ROW_PX;
const MIN_PX = 1.5;

/** Series from the bottom up, with the state that gives the colour. */
const SERIES: readonly (readonly [name: Exclude<keyof Activity, "failures">, state: keyof TimelineColours["states"], alpha: number])[] = [
  ["succeeding", "succeeded", 0.85],
  ["failing", "failed", 0.85],
  ["running", "running", 0.85],
  ["queued", "queued", 0.55],
];

/** Draws the nodes of groups over time: at each pixel, shares by state of those at once. */
export function drawGroups(context: DrawContext, frame: Frame): void {
  const { groups, viewport } = frame;
  for (const { place, activity } of groups) {
    const y = yOf(viewport, place);
    if (y < -viewport.rowPx || y > viewport.heightPx) continue;
    drawActivity(context, { ...frame, colours: coloursOf(frame, place) }, activity, y + viewport.rowPx * (21 / ROW_PX));
  }
  context.globalAlpha = 1;
}

/**
 * Returns the colours in which the members of a group are drawn. The group's state says how they
 * ended: its successes were cached or skipped, or its failures were aborted.
 */
function coloursOf({ bars, colours }: Frame, place: number): TimelineColours {
  const state = NODE_STATES[bars.state[place - bars.from] as number];
  if (state === "cached" || state === "skipped") return { ...colours, states: { ...colours.states, succeeded: colours.states[state] } };
  return state === "aborted" ? { ...colours, states: { ...colours.states, failed: colours.states.aborted } } : colours;
}

function drawActivity(context: DrawContext, frame: Frame, activity: Activity, baseY: number): void {
  const { buckets, window, widthPx, viewport, colours } = frame;
  const count = activity.queued.length;
  const full = viewport.rowPx * FULL_SHARE;
  let most = 0;
  for (let bucket = 0; bucket < count; bucket++) most = Math.max(most, totalOf(activity, bucket));
  if (most === 0) return;
  const perMs = widthPx / (window.toMs - window.fromMs);
  const bucketPx = ((buckets.toMs - buckets.fromMs) / count) * perMs;
  const left = (buckets.fromMs - window.fromMs) * perMs;
  const heights = new Float64Array(count);
  for (const [name, state, alpha] of SERIES) {
    context.fillStyle = colours.states[state];
    context.globalAlpha = alpha;
    context.beginPath();
    for (let bucket = 0; bucket < count; bucket++) {
      const value = activity[name][bucket] as number;
      const x = left + bucket * bucketPx;
      if (value === 0 || x + bucketPx < 0 || x > widthPx) continue;
      const heightPx = Math.max((value / most) * full, MIN_PX);
      heights[bucket] = (heights[bucket] as number) + heightPx;
      context.rect(x, baseY - (heights[bucket] as number), bucketPx, heightPx);
    }
    context.fill();
  }
}

/** Returns the number of nodes that are queued or run in a bucket. */
export function totalOf({ queued, running, succeeding, failing }: Activity, bucket: number): number {
  return (queued[bucket] as number) + (running[bucket] as number) + (succeeding[bucket] as number) + (failing[bucket] as number);
}
