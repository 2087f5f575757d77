import type { Page } from "playwright-core";

/** Frames of a page while a gesture ran. */
export interface FrameTimes {
  /** Frames per second of the slowest twentieth of the frames. */
  readonly slowFramesPerSecond: number;
  /** Longest task of the page's main thread, ms; 0 for none above 50 ms. */
  readonly longestTaskMs: number;
}

/** Records the times of frames and of long tasks; runs in the page. */
const RECORD = `(() => {
  const record = { frames: [], tasks: [] };
  const frame = (at) => { record.frames.push(at); if (globalThis.benchFrames === record) requestAnimationFrame(frame); };
  globalThis.benchFrames = record;
  requestAnimationFrame(frame);
  record.observer = new PerformanceObserver((list) => record.tasks.push(...list.getEntries().map((each) => each.duration)));
  record.observer.observe({ type: "longtask" });
})()`;

const READ = `(() => {
  const { frames, tasks, observer } = globalThis.benchFrames;
  observer.disconnect();
  globalThis.benchFrames = undefined;
  return { frames, tasks };
})()`;

const SLOW_SHARE = 0.95;

/** Runs a gesture and returns the frames that the page drew meanwhile. */
export async function frameTimesOf(page: Page, gesture: () => Promise<void>): Promise<FrameTimes> {
  await page.evaluate(RECORD);
  await gesture();
  const { frames, tasks } = (await page.evaluate(READ)) as { readonly frames: readonly number[]; readonly tasks: readonly number[] };
  const gaps = frames
    .slice(1)
    .map((at, index) => at - (frames[index] ?? at))
    .sort((a, b) => a - b);
  const slow = gaps[Math.floor(gaps.length * SLOW_SHARE)] ?? Number.POSITIVE_INFINITY;
  return { slowFramesPerSecond: 1_000 / slow, longestTaskMs: Math.max(0, ...tasks) };
}
