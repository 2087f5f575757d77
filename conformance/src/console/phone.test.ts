import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { findHeadlessChromium } from "@flyte-ts/test-servers";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { registerMapTask } from "../stack/map-task.js";
import { registerShellWorkflow, TARGET } from "../stack/shell-tasks.js";
import { type ConsoleStack, startConsoleStack } from "./fixtures/console-stack.fixture.js";
import { registerGates } from "./fixtures/launch-workflows.fixture.js";

const chromium = findHeadlessChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/** More items than the tree shows one by one. A large map has no pods, and so no logs. */
const ITEMS = Number(process.env["CONSOLE_MAP_ITEMS"] ?? 240);
const hasLogs = ITEMS <= 1_000;
/** Item that is opened, and the text that its log shows. */
const ITEM = ITEMS - 7;
const ITEM_LOG = hasLogs ? `item ${ITEM}` : /^No log: /;
/** Most presses of a key on the way to a control. */
const MAX_PRESSES = 120;

/** Activates a control. */
type Activate = (control: Locator) => Promise<void>;

const byTap: Activate = (control) => control.tap();

/** A tree keeps the focus and names its current row. */
const isReached = (control: Locator): Promise<boolean> =>
  control.evaluate((element) => {
    const { activeElement } = element.ownerDocument;
    return activeElement === element || (element.id !== "" && activeElement?.getAttribute("aria-activedescendant") === element.id);
  });

/** Moves the focus to a control by Tab, and within a tree by the arrows, then presses Enter. */
const byKeys: Activate = async (control) => {
  const page = control.page();
  await control.waitFor();
  for (let presses = 0; presses < MAX_PRESSES; presses++) {
    if (await isReached(control)) return page.keyboard.press("Enter");
    const isRow = (await control.getAttribute("role")) === "row";
    const isInTree = isRow && (await page.locator('[role="treegrid"]:focus-within').count()) > 0;
    await page.keyboard.press(isInTree ? "ArrowDown" : "Tab");
  }
  throw new Error(`the keyboard does not reach ${String(control)}`);
};

describe.runIf(chromium !== undefined)("the console by thumb and by keys", { timeout: 300_000 }, () => {
  let access: ConsoleStack["access"];
  let journey: ConsoleStack["journey"];
  let close: ConsoleStack["close"] | undefined;
  beforeAll(async () => {
    ({ access, journey, close } = await startConsoleStack(chromium ?? "", { stepMs: 60_000 }));
    const { client } = access;
    const container = { image: "shell:1", command: ["sh", "-c"], args: ["echo item {{.inputs.a}}"] };
    const map = await registerMapTask(client, { name: "journeys.map", size: ITEMS, container: hasLogs ? container : undefined });
    const broken = await registerShellWorkflow(client, "journeys.broken", [{ id: "n0", script: "echo no disk >&2; exit 3", after: [] }]);
    await registerGates(client, "journeys.gates");
    const started = [
      ["map", map],
      ["broken", broken],
    ] as const;
    for (const [name, launchPlan] of started) await client.admin.createExecution({ ...TARGET, name, spec: { launchPlan, metadata: {} } });
    for (const [name] of started) await waitForEnd(client, { ...TARGET, name }, 280_000);
  }, 300_000);
  afterAll(() => close?.(), 60_000);

  describe.each([
    ["thumb", byTap, PHONE],
    ["keys", byKeys, {}],
  ] as const)("by %s", (way, activate, context) => {
    const expectNoOverflow = async (page: Page): Promise<void> => {
      const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      expect(overflow).toBe(0);
    };

    test("a failed run is found, its error and log are read, and it is recovered", async () => {
      await journey(async ({ page, open, expectSound }) => {
        await open(`${SCOPE}/executions?phase=FAILED`);
        await activate(page.getByRole("link", { name: "broken", exact: true }));
        await page.getByRole("region", { name: "Message" }).getByText("no disk").waitFor();
        await page.getByRole("region", { name: "Log" }).getByText("no disk").waitFor();
        await expectSound(8);
        await expectNoOverflow(page);
        await activate(page.getByRole("button", { name: "Recover from here" }));
        await page.getByText("Copy of").waitFor();
        const recovered = new URL(page.url()).pathname.split("/").at(-1) ?? "";
        expect(recovered).not.toBe("broken");
        await waitForEnd(access.client, { ...TARGET, name: recovered }, 120_000);
      }, context);
    });

    test("a gate is answered and approved", async () => {
      const name = `gates-${way}`;
      const launchPlan = { ...TARGET, resourceType: ResourceType.LAUNCH_PLAN, name: "journeys.gates" };
      await access.client.admin.createExecution({ ...TARGET, name, spec: { launchPlan, metadata: {} } });
      await journey(async ({ page, open, expectSound }) => {
        const row = (node: RegExp) => page.getByRole("treegrid").getByRole("row", { name: node });
        await open(`${SCOPE}/executions/${name}?tab=timeline`);
        await activate(row(/title/));
        await activate(page.getByLabel("title", { exact: true }));
        await page.keyboard.type("Report");
        await expectSound(8);
        await activate(page.getByRole("button", { name: "Send" }));
        await row(/title.*succeeded/i).waitFor();
        await open(`${SCOPE}/executions/${name}?tab=timeline`);
        await activate(row(/consent/));
        await activate(page.getByRole("button", { name: "Approve" }));
        await page.getByText("Succeeded", { exact: true }).first().waitFor();
        await expectNoOverflow(page);
      }, context);
      expect((await waitForEnd(access.client, { ...TARGET, name }, 60_000)).closure?.phase).toBe(4);
    });

    test("one item of a map is opened", async () => {
      await journey(async ({ page, open, expectSound }) => {
        await open(`${SCOPE}/executions/map?tab=timeline&node=n0`);
        await activate(page.getByRole("button", { name: "Items" }));
        await activate(page.getByLabel("Index of an item"));
        await page.keyboard.type(String(ITEM));
        await page.keyboard.press("Enter");
        await page.getByText(ITEM_LOG, { exact: true }).waitFor();
        expect(new URL(page.url()).searchParams.get("item")).toBe(String(ITEM));
        await expectSound(10);
        await expectNoOverflow(page);
      }, context);
    });
  });
});
