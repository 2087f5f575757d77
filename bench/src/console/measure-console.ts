import { type CDPSession, chromium, type Page } from "playwright-core";
import { findChromium } from "@flyte-ts/test-servers";
import { frameTimesOf } from "./frame-times.js";
import { type CountingProxy, startCountingProxy } from "./counting-proxy.js";

export interface ConsoleOptions {
  /** Address of admin, `host:port`. */
  readonly endpoint: string;
  readonly project: string;
  readonly domain: string;
  /** Name of the execution that is shown. */
  readonly name: string;
}

/** Figures of one load of an execution's page with a cold cache. */
export interface ConsoleFigures {
  /** From the navigation to the first drawn row of the timeline, ms. */
  readonly firstRowsMs: number;
  /** From the navigation until all rows and counts can be reached, ms. */
  readonly completeMs: number;
  readonly requests: number;
  readonly kilobytes: number;
  readonly elements: number;
  /** Heap of the page after a collection, MiB; the worker's is not included. */
  readonly heapMib: number;
  /** Frames per second of the slowest twentieth while the timeline zooms, pans and scrolls. */
  readonly slowFramesPerSecond: number;
  readonly longestTaskMs: number;
}

const VIEWPORT = { width: 1440, height: 900 };
const TIMEOUT_MS = 60_000;
const GESTURE_STEPS = 60;
const STEP_MS = 50;
/** Marks that the page sets when it has drawn. */
const FIRST_ROWS = "console:first-rows";
const COMPLETE = "console:complete";

/** A browser that opens the execution's page. */
export interface ConsoleBench {
  /**
   * Opens the timeline with a cold cache and moves through it.
   *
   * @throws Error when the page does not show the table in a minute.
   */
  measure(): Promise<ConsoleFigures>;
  close(): Promise<void>;
}

/**
 * Starts Chromium, which all measurements share as a person's browser does: each has a context of
 * its own, without cache.
 *
 * @throws Error without Chromium.
 */
export async function startConsoleBench(options: ConsoleOptions): Promise<ConsoleBench> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("Chromium is missing: install it, or set FLYTE_TS_CHROMIUM to its program");
  const proxy = await startCountingProxy(options.endpoint);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  return {
    async measure() {
      const context = await browser.newContext({ viewport: VIEWPORT });
      try {
        return await measurePage(await context.newPage(), proxy, options);
      } finally {
        await context.close();
      }
    },
    async close() {
      await browser.close();
      proxy.close();
    },
  };
}

async function measurePage(page: Page, proxy: CountingProxy, { project, domain, name }: ConsoleOptions): Promise<ConsoleFigures> {
  const session = await page.context().newCDPSession(page);
  proxy.take();
  await page.goto(`http://${proxy.endpoint}/console/projects/${project}/domains/${domain}/executions/${name}?tab=timeline`);
  const [firstRowsMs, completeMs] = [await markOf(page, FIRST_ROWS), await markOf(page, COMPLETE)];
  const { requests, bytes } = proxy.take();
  const frames = await frameTimesOf(page, () => moveThroughTimeline(page));
  return {
    firstRowsMs: Math.round(firstRowsMs),
    completeMs: Math.round(completeMs),
    requests,
    kilobytes: Math.round(bytes / 1_024),
    elements: (await page.evaluate("document.querySelectorAll('*').length")) as number,
    heapMib: Math.round((await heapBytes(session)) / 2 ** 20),
    slowFramesPerSecond: Math.round(frames.slowFramesPerSecond),
    longestTaskMs: Math.round(frames.longestTaskMs),
  };
}

/** Waits for a mark; returns its time since the navigation, ms. */
async function markOf(page: Page, mark: string): Promise<number> {
  const startOf = (name: string): number | undefined => performance.getEntriesByName(name)[0]?.startTime;
  const found = await page.waitForFunction(startOf, mark, { timeout: TIMEOUT_MS });
  return (await found.jsonValue()) as number;
}

/** Zooms into the timeline and out again, pans, and scrolls through its rows. */
async function moveThroughTimeline(page: Page): Promise<void> {
  await page.mouse.move((VIEWPORT.width * 2) / 3, (VIEWPORT.height * 2) / 3);
  const repeat = async (step: (index: number) => Promise<void>): Promise<void> => {
    for (let index = 0; index < GESTURE_STEPS; index++) {
      await step(index);
      await page.waitForTimeout(STEP_MS);
    }
  };
  await page.keyboard.down("Control");
  await repeat((index) => page.mouse.wheel(0, index < GESTURE_STEPS / 2 ? -120 : 120));
  await page.keyboard.up("Control");
  await page.keyboard.down("Shift");
  await repeat((index) => page.mouse.wheel(0, index < GESTURE_STEPS / 2 ? 200 : -200));
  await page.keyboard.up("Shift");
  await repeat(() => page.mouse.wheel(0, 5_000));
}

async function heapBytes(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN;
}
