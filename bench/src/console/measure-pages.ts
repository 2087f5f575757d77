import type { Page } from "playwright-core";
import { firstFrame, startBrowser, withPage } from "./browser.js";

export interface PagesOptions {
  /** Address of admin, `host:port`. */
  readonly endpoint: string;
  readonly project: string;
  readonly domain: string;
  /** Workflow and launch plan whose pages are opened. */
  readonly workflow: string;
}

/** Time from the navigation to the frame with the data of each page, cold cache, ms. */
export type PageTimes = Readonly<Record<string, number>>;

const ROW = "[data-row]";

/** Paths of the pages below their project and domain, and an element that shows their data. */
const pagesOf = ({ workflow }: PagesOptions): Readonly<Record<string, { readonly path: string; readonly shows: string }>> => ({
  home: { path: "", shows: "#main td" },
  executions: { path: "/executions", shows: ROW },
  failed: { path: "/executions?phase=FAILED", shows: ROW },
  workflows: { path: "/workflows", shows: ROW },
  workflow: { path: `/workflows/${workflow}`, shows: ROW },
  launchPlans: { path: "/launchPlans", shows: ROW },
  tasks: { path: "/tasks", shows: ROW },
  launch: { path: `/launch?lp=${workflow}`, shows: "#main form" },
});

/**
 * Opens the pages of a project and domain one after the other, each in a context without cache.
 *
 * @throws Error without Chromium, or when a page shows no data in a minute.
 */
export async function measurePageTimes(options: PagesOptions): Promise<PageTimes> {
  const browser = await startBrowser();
  const times: Record<string, number> = {};
  try {
    // The first context of a browser takes longer than any other.
    await (await browser.newContext()).close();
    for (const [name, { path, shows }] of Object.entries(pagesOf(options))) {
      const address = `http://${options.endpoint}/console/projects/${options.project}/domains/${options.domain}${path}`;
      times[name] = await withPage(browser, (page) => timeOf(page, address, shows));
    }
    return times;
  } finally {
    await browser.close();
  }
}

/** Returns the time of the first frame that shows an element, ms since the navigation. */
async function timeOf(page: Page, address: string, selector: string): Promise<number> {
  await page.goto(address, { waitUntil: "commit" });
  return Math.round(await firstFrame(page, `document.querySelector(${JSON.stringify(selector)}) !== null`));
}
