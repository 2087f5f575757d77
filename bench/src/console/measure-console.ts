import type { Browser, Page } from "playwright-core";
import { marksOfBareLoad } from "./bare-load.js";
import { addressOf, heapBytes, markTime, startBrowser, VIEWPORT, withPage } from "./browser.js";
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
  /** From the navigation until the app has drawn the page, which then answers to clicks, ms. */
  readonly pageMs: number;
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
  /** The same of the page with the graph: from the navigation until it is drawn, ms. */
  readonly graphMs: number;
  readonly graphKilobytes: number;
  readonly graphElements: number;
  /** While the graph zooms from the whole to its cards and back, and pans. */
  readonly graphSlowFramesPerSecond: number;
  readonly graphLongestTaskMs: number;
}

type GraphFigures = Pick<
  ConsoleFigures,
  "graphMs" | "graphKilobytes" | "graphElements" | "graphSlowFramesPerSecond" | "graphLongestTaskMs"
>;

type TimeFigures = Pick<ConsoleFigures, "firstRowsMs" | "pageMs" | "completeMs">;

const GESTURE_STEPS = 60;
const STEP_MS = 50;
/** Marks that the page sets when it has drawn. */
const FIRST_ROWS = "console:first-rows";
const PAGE = "console:page";
const COMPLETE = "console:complete";
const GRAPH = "console:graph";
/** Time in which the phases of the nodes have come to a graph that is drawn. */
const SETTLED_MS = 3_000;

/** A browser that opens the execution's page. */
export interface ConsoleBench {
  /**
   * Opens the timeline and then the graph, each with a cold cache, and moves through them.
   *
   * @throws Error when the page does not show the table in a minute.
   */
  measure(): Promise<ConsoleFigures>;
  /** Opens the timeline once with a cold cache. */
  measureLoad(): Promise<TimeFigures>;
  close(): Promise<void>;
}

/**
 * Starts Chromium, which all measurements share as a person's browser does: each has a context of
 * its own, without cache.
 *
 * @throws Error without Chromium.
 */
export async function startConsoleBench(options: ConsoleOptions): Promise<ConsoleBench> {
  const proxy = await startCountingProxy(options.endpoint);
  const browser = await startBrowser();
  return {
    async measure() {
      return {
        ...(await measureTimes(browser, options)),
        ...(await withPage(browser, (page) => measureTimeline(page, proxy, options))),
        ...(await measureGraphTime(browser, options)),
        ...(await withPage(browser, (page) => measureGraph(page, proxy, options))),
      };
    },
    measureLoad: () => measureTimes(browser, options),
    async close() {
      await browser.close();
      proxy.close();
    },
  };
}

/** Opens the timeline at admin itself: a proxy, or commands to the page, would slow it down. */
async function measureTimes(browser: Browser, options: ConsoleOptions): Promise<TimeFigures> {
  const address = addressOf(options.endpoint, options, "tab=timeline");
  const times = await marksOfBareLoad(browser, address, [FIRST_ROWS, PAGE, COMPLETE]);
  const [firstRowsMs = Number.NaN, pageMs = Number.NaN, completeMs = Number.NaN] = times.map(Math.round);
  return { firstRowsMs, pageMs, completeMs };
}

async function measureGraphTime(browser: Browser, options: ConsoleOptions): Promise<Pick<ConsoleFigures, "graphMs">> {
  const [graphMs = Number.NaN] = await marksOfBareLoad(browser, addressOf(options.endpoint, options, "tab=graph"), [GRAPH]);
  return { graphMs: Math.round(graphMs) };
}

async function measureGraph(page: Page, proxy: CountingProxy, options: ConsoleOptions): Promise<Omit<GraphFigures, "graphMs">> {
  proxy.take();
  await page.goto(addressOf(proxy.endpoint, options, "tab=graph"));
  await markTime(page, GRAPH);
  await page.waitForTimeout(SETTLED_MS);
  const { bytes } = proxy.take();
  const frames = await frameTimesOf(page, () => moveThroughGraph(page));
  return {
    graphKilobytes: Math.round(bytes / 1_024),
    graphElements: (await page.evaluate("document.querySelectorAll('*').length")) as number,
    graphSlowFramesPerSecond: Math.round(frames.slowFramesPerSecond),
    graphLongestTaskMs: Math.round(frames.longestTaskMs),
  };
}

async function measureTimeline(
  page: Page,
  proxy: CountingProxy,
  options: ConsoleOptions,
): Promise<Omit<ConsoleFigures, keyof GraphFigures | keyof TimeFigures>> {
  proxy.take();
  await page.goto(addressOf(proxy.endpoint, options, "tab=timeline"));
  await markTime(page, COMPLETE);
  const { requests, bytes } = proxy.take();
  const frames = await frameTimesOf(page, () => moveThroughTimeline(page));
  return {
    requests,
    kilobytes: Math.round(bytes / 1_024),
    elements: (await page.evaluate("document.querySelectorAll('*').length")) as number,
    heapMib: Math.round((await heapBytes(page)) / 2 ** 20),
    slowFramesPerSecond: Math.round(frames.slowFramesPerSecond),
    longestTaskMs: Math.round(frames.longestTaskMs),
  };
}

/** Runs the steps of a gesture, which the screen follows one by one. */
async function repeat(page: Page, step: (index: number) => Promise<void>): Promise<void> {
  for (let index = 0; index < GESTURE_STEPS; index++) {
    await step(index);
    await page.waitForTimeout(STEP_MS);
  }
}

/** Zooms into the timeline and out again, pans, and scrolls through its rows. */
async function moveThroughTimeline(page: Page): Promise<void> {
  await page.mouse.move((VIEWPORT.width * 2) / 3, (VIEWPORT.height * 2) / 3);
  await page.keyboard.down("Control");
  await repeat(page, (index) => page.mouse.wheel(0, index < GESTURE_STEPS / 2 ? -120 : 120));
  await page.keyboard.up("Control");
  await page.keyboard.down("Shift");
  await repeat(page, (index) => page.mouse.wheel(0, index < GESTURE_STEPS / 2 ? 200 : -200));
  await page.keyboard.up("Shift");
  await repeat(page, () => page.mouse.wheel(0, 5_000));
}

/** Zooms into the graph, pans there, zooms out half way, pans again, and zooms out. */
async function moveThroughGraph(page: Page): Promise<void> {
  await page.mouse.move(VIEWPORT.width / 2, (VIEWPORT.height * 2) / 3);
  const zoom = async (deltaY: number): Promise<void> => {
    await page.keyboard.down("Control");
    await repeat(page, () => page.mouse.wheel(0, deltaY));
    await page.keyboard.up("Control");
  };
  const pan = (): Promise<void> => repeat(page, (index) => page.mouse.wheel(index < GESTURE_STEPS / 2 ? 60 : -60, 30));
  await zoom(-40);
  await pan();
  await zoom(20);
  await pan();
  await zoom(40);
}
