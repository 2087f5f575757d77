import { waitForEnd } from "../stack/executions.js";
import { registerMapTask } from "../stack/map-task.js";
import { registerShellWorkflow, TARGET } from "../stack/shell-tasks.js";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { WorkflowMetadata_OnFailurePolicy } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { findChromium } from "@flyte-ts/test-servers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveGate, startGraphExecution } from "./fixtures/graph-workflow.fixture.js";
import type { Appearance, WatchedPage } from "./fixtures/console-browser.fixture.js";
import { type ConsoleStack, startConsoleStack } from "./fixtures/console-stack.fixture.js";

const chromium = findChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;
const FAILED_NODES = Number(process.env["CONSOLE_FAILED_NODES"] ?? 40);
/** Rows of these nodes in the tree, which heads more than 200 siblings by a row for their state. */
const FAILED_ROWS = FAILED_NODES + (FAILED_NODES > 200 ? 1 : 0);
/** Load each page in each appearance, instead of changing the appearance of an open page. */
const LOADS_EACH = process.env["CONSOLE_APPEARANCES"] === "full";
const execution = (name: string): string => `${SCOPE}/executions/${name}`;
/** Pages of a project with executions, below its address. */
const PAGES = [
  "",
  "/executions",
  "/executions/fails",
  "/executions/works?tab=timeline",
  "/executions/works?tab=io",
  "/executions/works?tab=graph",
  "/executions/works?tab=settings",
  "/workflows",
  "/launchPlans",
  "/launchPlans/journeys.works",
  "/tasks",
  "/automation?tab=triggers",
  "/audit",
];
/** Phones, colours of the night, and colours that the reader's system forces. */
const APPEARANCES: readonly Appearance[] = [
  { viewport: { width: 390, height: 844 }, colorScheme: "dark" },
  { viewport: { width: 360, height: 640 } },
  { colorScheme: "dark" },
  { forcedColors: "active" },
];

describe.runIf(chromium !== undefined)("the console of a local stack", () => {
  let stack: ConsoleStack["stack"];
  let access: ConsoleStack["access"];
  let origin: string;
  let journey: ConsoleStack["journey"];
  let close: ConsoleStack["close"] | undefined;
  beforeAll(async () => {
    ({ stack, access, origin, journey, close } = await startConsoleStack(chromium ?? ""));
  }, 300_000);
  afterAll(() => close?.(), 60_000);

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

  test("a run with many failed nodes opens at its kinds of errors, and its address shows the same", async () => {
    const script = (shard: number): string =>
      shard === 7 ? "echo reading; echo no disk is mounted >&2; exit 4" : `echo reading; echo shard ${shard} is empty >&2; exit 3`;
    const nodes = Array.from({ length: FAILED_NODES }, (_, shard) => ({ id: `n${shard}`, script: script(shard), after: [] }));
    const policy = WorkflowMetadata_OnFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE;
    const launchPlan = await registerShellWorkflow(access.client, "journeys.broken", nodes, policy);
    await access.client.admin.createExecution({ ...TARGET, name: "broken", spec: { launchPlan, metadata: {} } });
    await ended("broken");
    let address = "";
    await journey(async ({ page, open, expectSound }) => {
      await open(execution("broken"));
      await page.getByRole("heading", { name: `2 kinds of error ${FAILED_NODES} nodes` }).waitFor();
      await page.getByText("reading", { exact: true }).waitFor();
      await expectSound();
      await page.getByRole("button", { name: /1 node · / }).click();
      const message = page.getByRole("region", { name: "Message" });
      await message.getByText("no disk is mounted").waitFor();
      await page.getByRole("button", { name: new RegExp(`${FAILED_NODES - 1} nodes · `) }).click();
      await page.getByRole("button", { name: /\bn11\b/ }).click();
      await message.getByText("shard 11 is empty").waitFor();
      await page.getByRole("region", { name: "Log" }).getByText("shard 11 is empty").waitFor();
      address = page.url();
    });
    await journey(async ({ page }) => {
      await page.goto(address);
      await page.getByRole("region", { name: "Message" }).getByText("shard 11 is empty").waitFor();
      expect(page.url()).toBe(address);
      await page.getByRole("button", { name: `${FAILED_NODES} Failed` }).click();
      const rows = page.getByRole("treegrid", { name: "Nodes" });
      await expect.poll(() => rows.getAttribute("aria-rowcount")).toBe(String(FAILED_ROWS));
      const filtered = new URL(page.url());
      expect([filtered.searchParams.get("tab"), filtered.searchParams.get("phase")]).toEqual(["timeline", "failed"]);
      filtered.searchParams.set("phase", "succeeded");
      await page.goto(filtered.href);
      await page.getByRole("button", { name: "0 Succeeded", pressed: true }).waitFor();
      await expect.poll(() => rows.getAttribute("aria-rowcount")).toBe("0");
    });
  }, 300_000);

  test("items of a map are found by their state or index, and lead to their logs", async () => {
    // More items than the tree shows one by one. The last one fails, when all others have begun.
    const container = {
      image: "shell:1",
      command: ["sh", "-c"],
      args: ["echo item {{.inputs.a}}; test {{.inputs.a}} -ne 239 || { sleep 2; exit 1; }"],
    };
    const launchPlan = await registerMapTask(access.client, { name: "journeys.map", size: 240, container });
    await access.client.admin.createExecution({ ...TARGET, name: "map", spec: { launchPlan, metadata: {} } });
    await ended("map");
    await journey(async ({ page, open }) => {
      await open(`${execution("map")}?tab=timeline&node=n0`);
      await page.getByRole("button", { name: "Items" }).click();
      const items = page.getByRole("treegrid", { name: "Items" });
      await items.getByRole("row", { name: /^1 failed/ }).click();
      await items.getByRole("row", { name: /^239\b.*failed/ }).click();
      await page.getByText("item 239", { exact: true }).waitFor();
      expect(new URL(page.url()).search).toBe("?tab=timeline&node=n0&item=239&pane=log");
      await page.getByRole("button", { name: "Items" }).click();
      await page.getByLabel("Index of an item").fill("203");
      await page.keyboard.press("Enter");
      await page.getByText("item 203", { exact: true }).waitFor();
    });
    await journey(async ({ page, open, expectSound }) => {
      await open(`${execution("map")}?tab=timeline&node=n0&pane=items`);
      await page.getByRole("treegrid", { name: "Items" }).getByRole("row").first().waitFor();
      await expectSound();
      await open(`${execution("map")}?tab=timeline&node=n0&item=239&pane=log`);
      await page.getByText("item 239", { exact: true }).waitFor();
      await expectSound();
    });
  }, 300_000);

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

  test("a schedule is deactivated, and a trigger is made, paused and deleted", async () => {
    await start("hourly", "exit 0");
    const workflowId = { ...TARGET, resourceType: ResourceType.WORKFLOW, name: "journeys.hourly" };
    const id = { ...TARGET, resourceType: ResourceType.LAUNCH_PLAN, name: "journeys.scheduled" };
    const schedule = { ScheduleExpression: { case: "cronSchedule" as const, value: { schedule: "0 * * * *" } } };
    await access.client.admin.createLaunchPlan({ id, spec: { workflowId, entityMetadata: { schedule } } });
    const toast = (page: Page, text: string | RegExp) => page.getByRole("status").getByText(text).waitFor();
    await journey(async ({ page, open, expectSound }) => {
      await open(`${SCOPE}/launchPlans/journeys.scheduled`);
      await page.getByRole("button", { name: "Activate" }).click();
      await toast(page, "Version 1 of journeys.scheduled is activated");
      await open(`${SCOPE}/automation`);
      const row = page.getByRole("table", { name: "Schedules" }).getByRole("row", { name: /journeys.scheduled/ });
      await row.waitFor();
      await expectSound();
      await row.getByRole("button", { name: "Deactivate" }).click();
      await toast(page, "Deactivated journeys.scheduled");
      await page.getByText("No launch plan runs on a schedule").waitFor();
    });
    await access.client.admin.updateLaunchPlan({ id, state: LaunchPlanState.ACTIVE });
    await journey(async ({ page, open, expectSound }) => {
      await open(`${SCOPE}/automation?tab=triggers`);
      await page.getByText("There are no triggers").waitFor();
      await page.getByRole("button", { name: "New trigger" }).click();
      await page.getByLabel("Name", { exact: true }).fill("on-push");
      await page.getByLabel("Starts the launch plan").fill("journeys.scheduled");
      await page.getByRole("button", { name: "GitHub sends" }).click();
      await expectSound();
      await page.getByRole("button", { name: "Create" }).click();
      await page
        .getByRole("dialog", { name: "Secret of on-push" })
        .getByText(/\/api\/v1\/trigger_webhooks\//)
        .waitFor();
      await expectSound();
      await page.getByRole("button", { name: "Done" }).click();
      const row = page.getByRole("table", { name: "Triggers" }).getByRole("row", { name: /on-push/ });
      await row.getByText("a webhook of GitHub arrives").waitFor();
      await row.getByRole("button", { name: "Pause" }).click();
      await row.getByText("paused").waitFor();
      await row.getByRole("button", { name: "Delete" }).click();
      await page.getByText("There are no triggers").waitFor();
      expect(new URL(page.url()).search).toBe("?tab=triggers");
    });
    await access.client.admin.updateLaunchPlan({ id, state: LaunchPlanState.INACTIVE });
    await ended("hourly");
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
      // pyflyte prints it after a registration.
      await open(`${SCOPE}/workflow/journeys.fails/version/1`);
      expect(page.url()).toBe(`${origin}/console${SCOPE}/workflows/journeys.fails?tab=versions&v=1`);
    });
  });

  test("each page is sound on phones, in the dark and in forced colours", { timeout: 300_000 }, async () => {
    await journey(async ({ page, open, show, settled, expectSound }) => {
      for (const [index, path] of PAGES.entries()) {
        // A load costs as much as all that is expected of a page: each page is loaded in one
        // appearance, the next page in the next one, and then shown in the others.
        const first = index % APPEARANCES.length;
        for (const [shown, appearance] of [...APPEARANCES.slice(first), ...APPEARANCES.slice(0, first)].entries()) {
          await show(appearance);
          if (shown === 0 || LOADS_EACH) await open(`${SCOPE}${path}`);
          await settled();
          await expectSound();
          const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
          expect([path, appearance, overflow]).toEqual([path, appearance, 0]);
        }
      }
    });
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
