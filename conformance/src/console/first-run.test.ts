import { connectToStack, type StackClient } from "../stack/use-stack.js";
import { waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow, TARGET } from "../stack/shell-tasks.js";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";
import { findChromium } from "@flyte-ts/test-servers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveGate, startGraphExecution } from "./graph-workflow.fixture.js";
import { openWatchedPage, startBrowser, type WatchedPage } from "./console-browser.fixture.js";

const chromium = findChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;
const execution = (name: string): string => `${SCOPE}/executions/${name}`;

describe.runIf(chromium !== undefined)("the console of a local stack", () => {
  let stack: RunningStack;
  let access: StackClient;
  let browser: Browser;
  let origin: string;
  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), startBrowser(chromium ?? "")]);
    access = connectToStack(stack);
    origin = `http://localhost:${stack.api}`;
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await access?.close();
  }, 60_000);

  /** Runs a journey in a browser's context of its own. */
  async function journey(work: (at: WatchedPage) => Promise<void>, options: Parameters<typeof openWatchedPage>[2] = {}): Promise<void> {
    const at = await openWatchedPage(browser, origin, options);
    try {
      await work(at);
    } finally {
      await at.close();
    }
  }

  /** Starts an execution of a workflow with one script. */
  async function start(name: string, script: string, retries = 0): Promise<void> {
    const launchPlan = await registerShellWorkflow(access.client, `journeys.${name}`, [{ id: "n0", script, after: [], retries }]);
    await access.client.admin.createExecution({ ...TARGET, name, spec: { launchPlan, metadata: {} }, inputs: {} });
  }
  const ended = (name: string) => waitForEnd(access.client, { ...TARGET, name }, 120_000);

  test("the start prints its address, and an empty project shows the commands that fill it", async () => {
    expect(stack.output()).toContain(`${origin}/console`);
    await journey(async ({ page, open, expectSound }) => {
      await open("");
      await page.getByText("pyflyte run --remote").waitFor();
      expect(page.url()).toBe(`${origin}/console${SCOPE}`);
      await expectSound();
    });
  });

  test("the list leads to a failed execution, which opens at its errors", async () => {
    await start("works", "exit 0");
    await start("fails", "echo no disk >&2; exit 3");
    await Promise.all([ended("works"), ended("fails")]);
    await journey(async ({ page, open, expectSound }) => {
      await open(`${SCOPE}/executions`);
      await page.getByRole("row", { name: /Succeeded.*works/ }).waitFor();
      await expectSound();
      await page.getByRole("button", { name: "phase any" }).click();
      await page.getByRole("menuitem", { name: "Failed" }).click();
      await expect.poll(() => page.getByRole("row").count()).toBe(2);
      expect(page.url()).toMatch(/\?phase=FAILED$/);
      await page.getByRole("menu").waitFor({ state: "hidden" });
      await page.keyboard.press("j");
      await page.locator('[data-row="fails"] a:focus').waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("region", { name: "Message" }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/console${execution("fails")}`);
      expect(await page.getByRole("link", { name: /Errors/ }).getAttribute("aria-current")).toBe("page");
      await page.getByText("Attempt 1").waitFor();
      await page.goBack();
      await expect.poll(() => page.getByRole("row").count()).toBe(2);
      await page.goBack();
      await page.getByRole("row", { name: /Succeeded.*works/ }).waitFor();
    });
    await journey(async ({ page, open, expectSound }) => {
      await open(execution("fails"));
      await page.getByText("Attempt 1").waitFor();
      await expectSound();
    });
  });

  test("an abort needs a cause, which the page then shows", async () => {
    await start("sleeps", "sleep 300");
    await journey(async ({ page, open, expectSound }) => {
      await open(execution("sleeps"));
      await page.getByRole("button", { name: "Abort" }).click();
      const confirm = page.getByRole("dialog").getByRole("button", { name: "Abort" });
      await confirm.waitFor();
      expect(await confirm.isDisabled()).toBe(true);
      await page.getByLabel("Cause").fill("started by mistake");
      await expectSound();
      await confirm.click();
      await page.getByText(/Aborted.*started by mistake/).waitFor();
      await page.getByRole("button", { name: "Recover from here" }).waitFor();
    });
    await ended("sleeps");
  });

  test("a page says that its data are old while admin is away, and goes on by itself", async () => {
    await start("waits", "sleep 300");
    await journey(async ({ page, open }) => {
      await open(`${execution("waits")}?tab=timeline`);
      const row = (name: RegExp) => page.getByRole("treegrid").getByRole("row", { name });
      await row(/n0/).waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      const isOld = page.getByText(/^Data are .* old$/).waitFor();
      for (const pid of stack.pids("admin")) process.kill(pid, "SIGKILL");
      await isOld;
      await page.getByText("Live", { exact: true }).waitFor({ timeout: 60_000 });
      await access.client.admin.terminateExecution({ id: { ...TARGET, name: "waits" }, cause: "the journey is over" });
      await row(/n0.*[Aa]borted/).waitFor({ timeout: 60_000 });
      await expect.poll(() => page.getByText(/Aborted.*the journey is over/).count()).toBe(1);
    });
    await ended("waits");
  });

  test("several are selected by keys and relaunched, with a result for each", async () => {
    await journey(async ({ page, open }) => {
      await open(`${SCOPE}/executions?wf=journeys.works`);
      await page.getByRole("row", { name: /works/ }).waitFor();
      await page.keyboard.press("j");
      await page.locator('[data-row="works"] a:focus').waitFor();
      await page.keyboard.press("x");
      await page.getByText("1 selected").waitFor();
      await page.getByRole("button", { name: "Relaunch" }).click();
      await page.getByText("1 of 1 done").waitFor();
      await page.getByRole("link", { name: /^Open / }).click();
      await page.getByRole("heading", { level: 1 }).waitFor();
      await expect.poll(() => page.getByText("Copy of").isVisible()).toBe(true);
    });
  });

  test("keys open pages, the palette and the list of keys", async () => {
    await journey(async ({ page, open, expectSound }) => {
      await open(`${SCOPE}/executions`);
      await page.keyboard.press("g");
      await page.keyboard.press("w");
      await page.getByRole("heading", { name: "Workflows" }).waitFor();
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("works");
      await page.getByRole("option", { name: /journeys.works Workflow/ }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "journeys.works" }).waitFor();
      await open(`${SCOPE}/workflows/journeys.works`);
      await page.getByRole("row", { name: /works/ }).first().waitFor();
      expect(await page.getByRole("row", { name: /works/ }).count()).toBeGreaterThan(0);
      await expectSound();
    });
  });

  test("the graph follows its nodes, and is moved through by keys and by clicks", async () => {
    await startGraphExecution(access.client, "graph");
    await journey(async ({ page, open, expectSound }) => {
      await open(`${execution("graph")}?tab=graph`);
      const list = page.getByRole("listbox", { name: "Nodes of the graph" });
      const current = page.getByRole("option").first();
      await current.waitFor({ state: "attached" });
      await list.focus();
      await expect.poll(() => current.textContent(), { timeout: 60_000 }).toMatch(/^load, task · n0, succeeded; 0 before, 1 after/);
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
      await expect.poll(() => current.textContent(), { timeout: 60_000 }).toMatch(/^inner, workflow · 2 nodes, succeeded, open/);
      await page.getByText("6 nodes shown").waitFor();
      await page.keyboard.press("ArrowRight");
      await expect.poll(() => current.textContent(), { timeout: 60_000 }).toMatch(/^gate, approval · n2, waiting/);
      await expectSound();
      await approveGate(access.client, "graph");
      await expect.poll(() => current.textContent(), { timeout: 60_000 }).toMatch(/^gate, approval · n2, succeeded/);
      await page.keyboard.press("Space");
      await page.getByRole("complementary", { name: "Node n2" }).waitFor();
      expect(new URL(page.url()).searchParams.get("node")).toBe("n2");
      await page.keyboard.press("t");
      await page.getByRole("row", { name: /gate|n2/, selected: true }).waitFor();
      await page.keyboard.press("t");
      await page.keyboard.press("g");
      await list.waitFor();
      await page.getByRole("complementary", { name: "Node n2" }).getByRole("button", { name: "Close" }).click();
      await clickAnyNode(page);
      await expect.poll(() => new URL(page.url()).searchParams.get("node")).toMatch(/^n\d/);
    });
    await journey(async ({ page, open, expectSound }) => {
      await open(`${SCOPE}/workflows/journeys.graph?tab=graph`);
      await page.getByRole("option").first().waitFor({ state: "attached" });
      await expectSound();
    });
    await ended("graph");
  });

  test("an address of the stock console leads to the node of the execution", async () => {
    await journey(async ({ page, open }) => {
      await open(`${execution("fails")}/nodeId/n0/taskId/journeys.fails.n0/attempt/0/view/logs`);
      expect(page.url()).toBe(`${origin}/console${execution("fails")}?node=n0&attempt=0`);
    });
  });

  test.each([
    ["a phone, dark", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }],
    ["the narrowest phone", { viewport: { width: 360, height: 640 } }],
    ["dark", { colorScheme: "dark" }],
    ["forced colours", { forcedColors: "active" }],
  ] as const)("each page is sound: %s", { timeout: 300_000 }, async (_, options) => {
    await journey(async ({ page, open, expectSound }) => {
      const pages = [
        "",
        "/executions",
        "/executions/fails",
        "/executions/works?tab=timeline",
        "/executions/works?tab=io",
        "/executions/works?tab=graph",
      ];
      for (const path of [
        ...pages,
        "/executions/works?tab=settings",
        "/workflows",
        "/launchPlans",
        "/launchPlans/journeys.works",
        "/tasks",
      ]) {
        await open(`${SCOPE}${path}`);
        await page.waitForLoadState("networkidle");
        await expectSound();
        const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        expect([path, overflow]).toEqual([path, 0]);
      }
    }, options);
  });
});

/** Moves the pointer over the drawing until it is over a node, and clicks there. */
async function clickAnyNode(page: WatchedPage["page"]): Promise<void> {
  const canvas = page.locator("[data-over]");
  const box = await canvas.boundingBox();
  if (box === null) throw new Error("the graph has no drawing");
  const step = 30;
  for (let y = step; y < box.height; y += step)
    for (let x = step; x < box.width; x += step) {
      await page.mouse.move(box.x + x, box.y + y);
      if ((await canvas.getAttribute("data-over")) !== "true") continue;
      return page.mouse.click(box.x + x, box.y + y);
    }
  throw new Error("the drawing has no node");
}
