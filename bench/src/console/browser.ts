import { type Browser, chromium, type Page } from "playwright-core";
import { CHROMIUM_ARGS, findChromium } from "@flyte-ts/test-servers";

/** Size of the pages that are measured. */
export const VIEWPORT = { width: 1440, height: 900 };

/**
 * Starts Chromium, which all measurements of a run share as a person's browser does.
 *
 * @throws Error without Chromium.
 */
export async function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("Chromium is missing: install it, or set FLYTE_TS_CHROMIUM to its program");
  return chromium.launch({ executablePath, args: CHROMIUM_ARGS });
}

/** Opens a page in a context of its own, without cache. */
export async function withPage<Figures>(browser: Browser, measure: (page: Page) => Promise<Figures>): Promise<Figures> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    const page = await context.newPage();
    // A page in the background draws no frames and confirms no input.
    await page.bringToFront();
    return await measure(page);
  } finally {
    await context.close();
  }
}

export interface ExecutionAddress {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

/** Address of an execution's page, with its query. */
export function addressOf(endpoint: string, { project, domain, name }: ExecutionAddress, query: string): string {
  return `http://${endpoint}/console/projects/${project}/domains/${domain}/executions/${name}?${query}`;
}

const TIMEOUT_MS = 60_000;

/**
 * Resolves to the time of the first frame for which an expression of the page holds, ms since the
 * navigation.
 *
 * @throws Error when it does not hold in a minute.
 */
export function firstFrame(page: Page, expression: string): Promise<number> {
  return pageTime(
    page,
    expression,
    `const look = () => {
      if (${expression}) resolve(performance.now());
      else requestAnimationFrame(look);
    };
    look();`,
  );
}

/**
 * Resolves to the time of a mark that the page sets, ms since the navigation.
 *
 * @throws Error when it is not set in a minute.
 */
export function markTime(page: Page, name: string): Promise<number> {
  return pageTime(
    page,
    name,
    `new PerformanceObserver((list) => {
      const [mark] = list.getEntriesByName(${JSON.stringify(name)});
      if (mark !== undefined) resolve(mark.startTime);
    }).observe({ type: "mark", buffered: true });`,
  );
}

/**
 * Runs statements in the page until they call `resolve`. They go to the browser as they are:
 * Playwright's own evaluation parses 300 KB of scripts first, while the page loads.
 */
async function pageTime(page: Page, awaited: string, statements: string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const expression = `new Promise((resolve) => { setTimeout(() => resolve(-1), ${TIMEOUT_MS}); ${statements} })`;
  const { result } = await session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  await session.detach();
  const at = Number(result.value);
  if (!(at >= 0)) throw new Error(`the page did not show in a minute: ${awaited}`);
  return at;
}

/** Heap of the page after a collection, bytes; those of its workers are not included. */
export async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  await session.detach();
  return metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN;
}

/** Processor time of the browser's processes by their kind, s. */
export async function cpuSecondsOf(browser: Browser): Promise<Readonly<Record<string, number>>> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const seconds: Record<string, number> = {};
  for (const { type, cpuTime } of processInfo) seconds[type] = (seconds[type] ?? 0) + cpuTime;
  return seconds;
}
