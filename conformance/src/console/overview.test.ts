import { findHeadlessChromium } from "@flyte-ts/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow, TARGET } from "../stack/shell-tasks.js";
import { type ConsoleStack, startConsoleStack } from "./fixtures/console-stack.fixture.js";
import { startGraphExecution } from "./fixtures/graph-workflow.fixture.js";

const chromium = findHeadlessChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;
const THEMES = ["light", "dark"] as const;
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };
/** Widths of an element's content and of what it shows of it. */
type Widths = Readonly<Record<"scrollWidth" | "clientWidth", number>>;
/** Time of one step, for machines with little to spare. */
const STEP_MS = 120_000;

describe.runIf(chromium !== undefined)("the console's pages of a project as a whole", () => {
  let console: ConsoleStack;
  beforeAll(async () => {
    console = await startConsoleStack(chromium ?? "", { stepMs: STEP_MS });
    const { client } = console.access;
    for (const [name, script] of [
      ["works", "exit 0"],
      ["fails", "echo 'ValueError: no disk' >&2; exit 3"],
    ] as const) {
      const launchPlan = await registerShellWorkflow(client, `pages.${name}`, [{ id: "n0", script, after: [] }]);
      await client.admin.createExecution({ ...TARGET, name, spec: { launchPlan, metadata: {} }, inputs: {} });
    }
    await startGraphExecution(client, "release");
    await Promise.all(["works", "fails"].map((name) => waitForEnd(client, { ...TARGET, name }, 120_000)));
  }, 400_000);
  afterAll(() => console.close(), 60_000);

  test.each(THEMES)("home shows what needs attention, in %s", async (colorScheme) => {
    await console.journey(
      async ({ page, open, expectSound }) => {
        await open(SCOPE);
        await page.getByText("pages.fails failed").waitFor();
        await page.getByText("ValueError: no disk").waitFor();
        await page.getByRole("button", { name: "Recover fails" }).waitFor();
        await page.getByRole("button", { name: "Approve go-on" }).waitFor({ timeout: 60_000 });
        await page.getByRole("row", { name: /pages.works .*100 %/ }).waitFor();
        await expectSound();
        await page.getByRole("button", { name: "7 d" }).click();
        await page.getByText("Ended, 7 d").waitFor();
        expect(page.url()).toMatch(/\?in=7d$/);
        await expectSound();
      },
      { colorScheme },
    );
  });

  test("home has room on a phone, where attention comes first", async () => {
    await console.journey(async ({ page, open, expectSound }) => {
      await open(SCOPE);
      await page.getByText("pages.fails failed").waitFor();
      const [attention, workflows] = await Promise.all(
        ["Needs attention", "Workflows"].map((name) => page.getByRole("heading", { name }).boundingBox()),
      );
      expect(attention?.y).toBeLessThan(workflows?.y ?? 0);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
      await expectSound();
    }, PHONE);
  });

  test("an approval and a failure are settled at home", async () => {
    await console.journey(async ({ page, open }) => {
      await open(SCOPE);
      const question = page.getByText("waits for approval");
      expect(await question.evaluate((title: Widths) => title.scrollWidth - title.clientWidth)).toBe(0);
      await page.getByRole("button", { name: "Approve go-on" }).click();
      await page.getByText("Approved go-on of release").waitFor();
      await page.getByRole("button", { name: "Approve go-on" }).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Recover fails" }).click();
      await page.getByRole("button", { name: "Recover fails" }).waitFor({ state: "detached" });
      await page.getByRole("link", { name: "Open" }).click();
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(page.url()).toMatch(/\/executions\/[a-z0-9]+$/);
    });
  });

  test("the palette finds workflows and executions by parts of their names", async () => {
    await console.journey(async ({ page, open, expectSound }) => {
      await open(`${SCOPE}/tasks`);
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("PAGES fa");
      await page.getByRole("option", { name: "pages.fails Workflow" }).waitFor();
      await page.getByRole("option", { name: /^fails Failed/ }).waitFor();
      await expectSound();
      await page.getByRole("combobox").fill("nothing of the kind");
      await page.getByText("Nothing has such a name").waitFor();
      await page.getByRole("combobox").fill("works");
      await page.getByRole("option", { name: /^works Succeeded/ }).click();
      await page.getByRole("heading", { name: /works/, level: 1 }).waitFor();
      expect(page.url()).toContain(`${SCOPE}/executions/works`);
    });
  });
});
