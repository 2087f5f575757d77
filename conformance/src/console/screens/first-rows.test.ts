import { findChromium } from "@flyte-ts/test-servers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBrowser } from "../fixtures/console-browser.fixture.js";
import { type RecordedConsole, serveRecording } from "./answers.fixture.js";
import { SCREENS } from "./pages.fixture.js";

const chromium = findChromium();
const path = SCREENS.find(({ name }) => name === "timeline")?.path ?? "";
/** Script of the app, which draws the page. */
const APP = "**/start-app-*.js";
const PAGE = "#root";
const COVER = "[inert]";

/** Texts and places of the name, the rows and the bars that are drawn inside an element. */
const placesIn = (page: Page, selector: string): Promise<unknown> =>
  page.evaluate(`(() => {
    const root = document.querySelector(${JSON.stringify(selector)});
    const boxOf = (element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [x, y, width, height].map(Math.round);
    };
    const textOf = (row, part) => row.querySelector('[class*="' + part + '"]').textContent.replace(/\\s+/g, " ").trim();
    const rows = [...root.querySelectorAll('[style*="translateY"]')];
    return {
      name: boxOf(root.querySelector('header [class*="name"], [class*="header"] [class*="name"]')).slice(0, 2),
      rows: rows.map((row) => [textOf(row, "title"), textOf(row, "figure"), boxOf(row)]),
      bars: boxOf([...root.querySelectorAll("canvas")].at(-1)),
    };
  })()`);

describe.runIf(chromium !== undefined)("first rows of an execution", { timeout: 120_000 }, () => {
  let browser: Browser;
  let served: RecordedConsole;
  beforeAll(async () => {
    browser = await startBrowser(chromium ?? "");
    served = await serveRecording();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await served.close();
  });

  test("are drawn without the app, where the page draws them, until it does", async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, timezoneId: "UTC" });
    const page = await context.newPage();
    await page.clock.setFixedTime(served.atMs);
    const app = Promise.withResolvers<void>();
    await page.route(APP, async (route) => {
      await app.promise;
      await route.continue();
    });
    await page.goto(`${served.origin}/console${path}`, { waitUntil: "commit" });
    await page.locator(`${COVER} canvas`).waitFor();
    await page.evaluate("document.fonts.ready");
    const drawn = await placesIn(page, COVER);
    expect(await page.locator(`${PAGE} > *`).count()).toBe(0);
    app.resolve();
    await page.locator(COVER).waitFor({ state: "detached" });
    // Facts of the execution that come later may move the rows: they are those of the recording.
    await expect.poll(() => placesIn(page, PAGE), { timeout: 20_000 }).toEqual(drawn);
    await context.close();
  });

  test("are left to the app where it shows another view, or on a phone", async () => {
    for (const [viewport, query] of [
      [{ width: 1440, height: 900 }, "tab=graph"],
      [{ width: 390, height: 844 }, "tab=timeline"],
    ] as const) {
      const context = await browser.newContext({ viewport });
      const page = await context.newPage();
      // A cover is taken away soon: note each that has been there.
      await page.addInitScript(`globalThis.covers = 0;
        new MutationObserver(() => (globalThis.covers += document.querySelectorAll("${COVER}").length))
          .observe(document, { childList: true, subtree: true });`);
      await page.goto(`${served.origin}/console${path.replace("tab=timeline", query)}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await page.evaluate("globalThis.covers")).toBe(0);
      await context.close();
    }
  });
});
