import { join } from "node:path";
import { findChromium } from "@flyte-ts/test-servers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startBrowser, watchCalls } from "../fixtures/console-browser.fixture.js";
import { programCredentials, runAccounts } from "../fixtures/accounts.fixture.js";
import { startConsoleStack } from "../fixtures/console-stack.fixture.js";
import { TARGET } from "../../stack/shell-tasks.js";
import { type ConsoleRecorder, recordConsole, type RecordedConsole, serveRecording } from "./answers.fixture.js";
import { comparePicture, writeReference } from "./compare.fixture.js";
import { fillProject } from "./executions.fixture.js";
import { type Screen, SCREENS } from "./pages.fixture.js";

/**
 * `update` replaces the references, to be looked at before they are committed; `record` does it
 * after recording the answers of a stack anew.
 */
const mode = process.env["CONSOLE_SCREENS"] ?? "compare";
const MAX_SHARE = 0.001;
/** Time for a page to take its final layout, ms. */
const LAYOUT_TIMEOUT_MS = 15_000;
const THEMES = ["light", "dark"] as const;
const VIEWPORTS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const;
/**
 * Call that the list of executions makes some seconds after it is opened. A busy machine takes
 * longer for its picture.
 */
const NEWEST_EXECUTIONS = `/api/v1/executions/${TARGET.project}/${TARGET.domain}?limit=30&sort_by.key=created_at&sort_by.direction=DESCENDING`;
const chromium = findChromium();

describe.runIf(chromium !== undefined)("pages of the console look as before", () => {
  let browser: Browser;
  let served: RecordedConsole;
  let close: RecordedConsole["close"] | undefined;

  beforeAll(async () => {
    browser = await startBrowser(chromium ?? "");
    if (mode === "record") await record(browser);
    served = await serveRecording();
    ({ close } = served);
  }, 600_000);
  afterAll(async () => {
    await browser.close();
    await close?.();
  });

  test.each(VIEWPORTS)("$width pixels wide", { timeout: 600_000 }, async (viewport) => {
    const differences: object[] = [];
    await takePictures(browser, { viewport, ...served }, async ({ name }, theme, take) => {
      const reference = join(import.meta.dirname, "references", `${theme}-${viewport.width}`, `${name}.png`);
      if (mode !== "compare") writeReference(reference, await take());
      let difference: object | undefined;
      const isAsBefore = async () => {
        const { share, files } = comparePicture(reference, await take());
        difference = share > MAX_SHARE ? { page: name, theme, share, files } : undefined;
        return difference === undefined;
      };
      // On a busy machine a page may still move its parts.
      await vi.waitUntil(isAsBefore, { timeout: LAYOUT_TIMEOUT_MS }).catch(() => undefined);
      if (difference !== undefined) differences.push(difference);
    });
    expect(served.unknown).toEqual([]);
    expect(differences).toEqual([]);
  });
});

/** Records the answers that all pages get from a stack whose project is filled. */
async function record(browser: Browser): Promise<void> {
  // A stack with sign-in has an audit log.
  const { access, stack, close } = await startConsoleStack(chromium ?? "", {
    flags: ["--no-example", "--auth"],
    credentials: programCredentials,
  });
  let recorder: ConsoleRecorder | undefined;
  try {
    runAccounts(stack, ["grant", "subject", "flytekit", "admin"]);
    await fillProject(access.client);
    const headers = async () => ({ ...(await programCredentials(stack).metadata?.()) });
    recorder = await recordConsole({ upstream: `http://localhost:${stack.api}`, headers, atMs: Math.ceil(Date.now() / 1_000) * 1_000 });
    for (const viewport of VIEWPORTS) await takePictures(browser, { viewport, ...recorder }, () => Promise.resolve());
    await fetch(`${recorder.origin}${NEWEST_EXECUTIONS}`);
    recorder.write();
  } finally {
    await recorder?.close();
    await close();
  }
}

interface Look extends Pick<RecordedConsole, "origin" | "atMs"> {
  readonly viewport: (typeof VIEWPORTS)[number];
}

/**
 * Opens each page at the time of its recording, without motion, to take its picture in both themes.
 */
async function takePictures(
  browser: Browser,
  { origin, atMs, viewport }: Look,
  onPicture: (screen: Screen, theme: (typeof THEMES)[number], take: () => Promise<Buffer>) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport, reducedMotion: "reduce", timezoneId: "UTC", locale: "en-US" });
  try {
    const page = await context.newPage();
    const settled = watchCalls(page);
    await page.clock.setFixedTime(atMs);
    for (const screen of SCREENS) {
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto(`${origin}/console${screen.path}`);
      await page.getByText(screen.shows).first().waitFor();
      await settled();
      await page.evaluate("document.fonts.ready");
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await onPicture(screen, theme, () => stillPicture(page));
      }
    }
  } finally {
    await context.close();
  }
}

/** Takes pictures until two that follow each other are equal. */
async function stillPicture(page: { screenshot(options: object): Promise<Buffer> }): Promise<Buffer> {
  const take = () => page.screenshot({ animations: "disabled", caret: "hide" });
  for (let before = await take(); ; ) {
    const next = await take();
    if (next.equals(before)) return next;
    before = next;
  }
}
