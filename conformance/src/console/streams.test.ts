import { findHeadlessChromium } from "@flyte-ts/test-servers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow, TARGET } from "../stack/shell-tasks.js";
import { type ConsoleStack, startConsoleStack } from "./fixtures/console-stack.fixture.js";

const chromium = findHeadlessChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;
const timeline = (name: string): string => `/console${SCOPE}/executions/${name}?tab=timeline`;
/** Browsers have six connections for an origin over HTTP/1.1. */
const TABS = 9;
/** Nodes of an execution that goes on while a service is away. */
const STEPS = 12;

/** Rows of the tree, with their phases, starts and durations. */
const rowsOf = (page: Page) => page.getByRole("treegrid").getByRole("row").allInnerTexts();
const row = (page: Page, name: RegExp) => page.getByRole("treegrid").getByRole("row", { name });

/** Kills a process, which may have ended since it was listed. */
function killIfRunning(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

describe.runIf(chromium !== undefined)("streams of the console", { timeout: 300_000 }, () => {
  let stack: ConsoleStack["stack"];
  let access: ConsoleStack["access"];
  let origin: string;
  let journey: ConsoleStack["journey"];
  let close: ConsoleStack["close"] | undefined;
  beforeAll(async () => {
    ({ stack, access, origin, journey, close } = await startConsoleStack(chromium ?? "", { stepMs: 90_000 }));
  }, 300_000);
  afterAll(() => close?.(), 60_000);

  async function start(name: string, nodes: Parameters<typeof registerShellWorkflow>[2]): Promise<void> {
    const launchPlan = await registerShellWorkflow(access.client, `journeys.${name}`, nodes);
    await access.client.admin.createExecution({ ...TARGET, name, spec: { launchPlan, metadata: {} }, inputs: {} });
  }
  const waiting = [{ id: "n0", script: "sleep 600", after: [] }];
  const abort = async (name: string): Promise<void> => {
    await access.client.admin.terminateExecution({ id: { ...TARGET, name }, cause: "the journey is over" });
    await waitForEnd(access.client, { ...TARGET, name }, 120_000);
  };
  /** Opens the same live execution in many tabs of one browser. */
  async function openTabs(first: Page, name: string): Promise<readonly Page[]> {
    const tabs = [first];
    while (tabs.length < TABS) tabs.push(await first.context().newPage());
    for (const tab of tabs) {
      await tab.goto(`${origin}${timeline(name)}`);
      await row(tab, /n0.*running/i).waitFor();
    }
    return tabs;
  }

  test("nine windows of a live execution load, act and see its end", async () => {
    await start("windows", waiting);
    await journey(async ({ page }) => {
      const tabs = await openTabs(page, "windows");
      const last = tabs.at(-1) ?? page;
      await last.getByRole("button", { name: "Abort" }).click();
      await last.getByLabel("Cause").fill("seen everywhere");
      await last.getByRole("dialog").getByRole("button", { name: "Abort" }).click();
      for (const tab of tabs) await tab.getByText(/Aborted.*seen everywhere/).waitFor();
      expect(tabs).toHaveLength(TABS);
    });
    await waitForEnd(access.client, { ...TARGET, name: "windows" }, 120_000);
  });

  test("nine tabs opened in the background load, and follow when they are looked at", async () => {
    await start("tabs", waiting);
    await journey(async ({ page }) => {
      await page.context().addInitScript(`
        let isHidden = true;
        Object.defineProperty(Document.prototype, "hidden", { get: () => isHidden });
        globalThis.show = () => { isHidden = false; document.dispatchEvent(new Event("visibilitychange")); };
      `);
      const tabs = await openTabs(page, "tabs");
      await page.evaluate("show()");
      await abort("tabs");
      await page.getByText(/Aborted.*the journey is over/).waitFor();
      expect(tabs).toHaveLength(TABS);
    });
  });

  test.each(["admin", "nats", "postgres"])(
    "a page says that its data are old while %s is away, then shows what a fresh read does",
    async (part) => {
      const name = `without-${part}`;
      const step = (index: number) => ({ id: `n${index}`, script: "sleep 1", after: index === 0 ? [] : [`n${index - 1}`] });
      await start(
        name,
        Array.from({ length: STEPS }, (_, index) => step(index)),
      );
      await journey(async ({ page }) => {
        await page.goto(`${origin}${timeline(name)}`);
        await row(page, /n1.*running/i).waitFor();
        await page.getByText("Live", { exact: true }).waitFor();
        const isOld = page.getByText(/^Data are .* old$/);
        await vi.waitUntil(
          async () => {
            for (const pid of stack.pids(part)) killIfRunning(pid);
            return await isOld.isVisible();
          },
          { timeout: 90_000, interval: 50 },
        );
        await page.getByText("Live", { exact: true }).waitFor();
        await waitForEnd(access.client, { ...TARGET, name }, 120_000);
        await page.getByText("Succeeded", { exact: true }).first().waitFor();
        const fresh = await page.context().newPage();
        await fresh.goto(`${origin}${timeline(name)}`);
        await row(fresh, new RegExp(`n${STEPS - 1}.*succeeded`, "i")).waitFor();
        const expected = await rowsOf(fresh);
        expect(expected).toHaveLength(STEPS);
        await expect.poll(() => rowsOf(page), { timeout: 30_000 }).toEqual(expected);
      });
    },
  );
});
