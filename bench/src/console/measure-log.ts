import type { Browser, Page } from "playwright-core";
import { addressOf, type ExecutionAddress, firstFrame, heapBytes, startBrowser, withPage } from "./browser.js";
import { startCountingProxy } from "./counting-proxy.js";
import { type FrameTimes, frameTimesOf } from "./frame-times.js";
import { PrintedLog, RARE, rareLines } from "./printed-log.js";

export interface LogOptions extends ExecutionAddress {
  /** Address of admin, `host:port`. */
  readonly endpoint: string;
  /** Node of the execution whose log is replaced. */
  readonly node: string;
  readonly lines: number;
}

/** Figures of a log that is opened, searched and scrolled while its pod prints. */
export interface LogFigures {
  readonly lines: number;
  /** From the navigation until the last line is drawn, ms. */
  readonly endMs: number;
  /** From the navigation until all lines are read and the last one has its number, ms. */
  readonly readMs: number;
  /** From the last key of a search until all lines are searched and counted, ms. */
  readonly searchMs: number;
  readonly heapMib: number;
  /** Frames while the log is scrolled, by small and by large steps. */
  readonly scroll: FrameTimes;
  /** Frames while the log follows its end. */
  readonly follow: FrameTimes;
  /** Frames while a search of many matches runs and the pod prints. */
  readonly search: FrameTimes;
}

const STEPS = 60;
const STEP_MS = 50;

/**
 * Opens the log of a node with many lines in Chromium. The lines come from the benchmark in the
 * place of admin's: a pod's kubelet keeps fewer.
 *
 * @throws Error without Chromium, or when the page does not show the log in a minute.
 */
export async function measureLog(options: LogOptions, onFigures: (figures: LogFigures) => void, turns: number): Promise<void> {
  const log = new PrintedLog(options.lines);
  const proxy = await startCountingProxy(options.endpoint, ({ url }, answer) => {
    if (url?.startsWith("/api/v1/follow/log/") !== true) return false;
    void log.send(answer, Number(new URL(url, "http://bench").searchParams.get("end_lines")));
    return true;
  });
  const browser: Browser = await startBrowser();
  try {
    for (let turn = 0; turn < turns; turn++) onFigures(await withPage(browser, (page) => measureIn(page, proxy.endpoint, options)));
  } finally {
    await browser.close();
    proxy.close();
  }
}

async function measureIn(page: Page, endpoint: string, options: LogOptions): Promise<LogFigures> {
  await page.goto(addressOf(endpoint, options, `tab=timeline&node=${options.node}&pane=log`), { waitUntil: "commit" });
  const [endMs, readMs] = await Promise.all([firstFrame(page, stepFrom(options.lines - 1)), firstFrame(page, lineFrom(options.lines))]);
  const follow = await frameTimesOf(page, () => repeat(page, () => Promise.resolve()));
  const box = page.getByRole("searchbox", { name: "Search the log" });
  await box.fill(RARE.slice(0, -1));
  const before = (await page.evaluate("performance.now()")) as number;
  await box.press(RARE.slice(-1));
  const searchMs = (await firstFrame(page, countedFrom(rareLines(options.lines)))) - before;
  const search = await frameTimesOf(page, async () => {
    await box.fill("step 7");
    await repeat(page, () => Promise.resolve());
  });
  await box.fill("");
  await page.getByRole("log").hover();
  const scroll = await frameTimesOf(page, async () => {
    await repeat(page, (index) => page.mouse.wheel(0, index < STEPS / 2 ? -120 : 120));
    await repeat(page, (index) => page.mouse.wheel(0, index < STEPS / 2 ? -20_000 : 20_000));
  });
  const heapMib = Math.round((await heapBytes(page)) / 2 ** 20);
  return {
    lines: options.lines,
    endMs: Math.round(endMs),
    readMs: Math.round(readMs),
    searchMs: Math.round(searchMs),
    heapMib,
    scroll,
    follow,
    search,
  };
}

async function repeat(page: Page, step: (index: number) => Promise<void>): Promise<void> {
  for (let index = 0; index < STEPS; index++) {
    await step(index);
    await page.waitForTimeout(STEP_MS);
  }
}

/** Holds when a line is drawn whose text tells a step from a number on. */
const stepFrom = (step: number): string =>
  `[...document.querySelectorAll('[role="log"] > div > div')].some((each) => Number(/step (\\d+) /.exec(each.textContent)?.[1]) >= ${step})`;

/** Holds when a line from a number on is drawn with its text. */
const lineFrom = (line: number): string =>
  `[...document.querySelectorAll('[role="log"] button')].some((each) => Number(each.textContent) >= ${line} && each.nextElementSibling.textContent !== "")`;

/** Holds when a search is complete with at least so many lines. */
const countedFrom = (count: number): string =>
  `[document.querySelector('[role="search"] label span')?.textContent ?? ""].some((text) => /^[\\d,]+$/.test(text) && Number(text.replaceAll(",", "")) >= ${count})`;
