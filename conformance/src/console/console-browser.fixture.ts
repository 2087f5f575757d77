import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { CHROMIUM_ARGS } from "@flyte-ts/test-servers";
import { expect } from "vitest";

/** Source of axe, which the test runs in the page. */
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Calls of a page besides its files. */
const MAX_REQUESTS = 5;
const MAX_ELEMENTS = 3_000;

/** Result of axe, as far as the test reads it. */
interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly target: readonly string[] }[] }[];
}

/** A page of the console whose errors, policy violations and calls are recorded. */
export interface WatchedPage {
  readonly page: Page;
  /** Opens a path below `/console` and waits until its heading is there. */
  open(path: string): Promise<void>;
  /**
   * Expects that the page as it is now has no violation of the budget of accessibility, no error,
   * few elements, and has made few calls since it was opened.
   *
   * @param maxRequests default 5
   */
  expectSound(maxRequests?: number): Promise<void>;
  close(): Promise<void>;
}

export async function startBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: CHROMIUM_ARGS });
}

export async function openWatchedPage(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  const calls = new Set<string>();
  // The browser logs violations of the policy as errors, too.
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    // A page asks again for what changes: the same call counts once.
    if (pathname.startsWith("/api/")) calls.add(`${request.method()} ${pathname}${search}`);
  });
  return {
    page,
    async open(path) {
      calls.clear();
      await page.goto(`${origin}/console${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    },
    async expectSound(maxRequests = MAX_REQUESTS) {
      expect(await violations(page)).toEqual([]);
      expect(errors).toEqual([]);
      expect(await page.locator("*").count()).toBeLessThanOrEqual(MAX_ELEMENTS);
      expect([...calls].slice(maxRequests)).toEqual([]);
    },
    close: () => context.close(),
  };
}

/** Runs axe. Focus guards of menus are hidden on purpose, and pass the focus on. */
async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const result = (await page.evaluate(`axe.run({ exclude: ["[data-base-ui-focus-guard]"] })`)) as AxeResult;
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}
