import { toJson } from "@bufbuild/protobuf";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { findHeadlessChromium } from "@flyte-ts/test-servers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { TARGET } from "../stack/shell-tasks.js";
import { type ConsoleStack, startConsoleStack } from "./fixtures/console-stack.fixture.js";
import { registerGates, registerTypedWorkflow } from "./fixtures/launch-workflows.fixture.js";

const chromium = findHeadlessChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;
const TYPES = "journeys.types";

describe.runIf(chromium !== undefined)("launching in the console", () => {
  let access: ConsoleStack["access"];
  let journey: ConsoleStack["journey"];
  let close: ConsoleStack["close"] | undefined;
  let launched: string;
  beforeAll(async () => {
    const options = { context: { timezoneId: "Europe/Berlin" }, stepMs: 90_000 };
    ({ access, journey, close } = await startConsoleStack(chromium ?? "", options));
    await registerTypedWorkflow(access.client, TYPES);
    await registerGates(access.client, "journeys.gates");
  }, 300_000);
  afterAll(() => close?.(), 60_000);

  const inputsOf = async (name: string): Promise<Record<string, unknown>> => {
    const { fullInputs } = await access.client.admin.getExecutionData({ id: { ...TARGET, name } });
    return (
      (fullInputs === undefined ? {} : (toJson(LiteralMapSchema, fullInputs) as { literals?: Record<string, unknown> }).literals) ?? {}
    );
  };
  const primitive = (value: object) => ({ scalar: { primitive: value } });
  /** Name of the execution whose page has opened. */
  const openedExecution = async (page: Page): Promise<string> => {
    await page.waitForURL(/\/executions\/[a-z0-9-]+/);
    return new URL(page.url()).pathname.split("/").at(-1) ?? "";
  };
  const input = (page: Page, name: string) => page.getByLabel(name, { exact: true });

  /** Enters a value of each kind. */
  async function fillAll(page: Page): Promise<void> {
    await input(page, "count").fill("9007199254740993");
    await input(page, "share").fill("1e-3");
    await page.getByRole("switch", { name: "early" }).click();
    await input(page, "begin").fill("2026-11-14 00:00");
    await input(page, "wait").fill("1h 30m");
    await input(page, "colour").selectOption("green");
    await page.getByRole("group", { name: "regions" }).getByRole("button", { name: "Paste a list" }).click();
    await page.getByLabel("Items of regions").fill("berlin\nhamburg");
    await page.getByRole("button", { name: "Replace with 2 items" }).click();
    await page.getByRole("group", { name: "weights" }).getByRole("button", { name: "Add" }).click();
    await input(page, "weights: key 0").fill("cold");
    await input(page, "weights cold").fill("-5");
    await page.getByRole("group", { name: "Type of limit" }).getByRole("button", { name: "float" }).click();
    const limit = page.getByRole("textbox", { name: "limit" });
    await limit.fill("0.05,");
    await page.getByText("Not a number: write 0.05 without the comma.").waitFor();
    await limit.fill("0.05");
    await input(page, "params.rate").fill("0.01");
    await input(page, "table").fill("s3://weather/2026");
  }

  test("a value of each kind arrives as its literal, and the page leads to the execution", { timeout: 300_000 }, async () => {
    await journey(async ({ page, open, expectSound }) => {
      await open(`${SCOPE}/workflows/${TYPES}`);
      await page.getByRole("button", { name: "Launch…" }).click();
      await page.getByRole("heading", { level: 1, name: `Launch ${TYPES}` }).waitFor();
      await page.getByRole("button", { name: "Launch", exact: true }).click();
      await page.getByText(/values to put right/).waitFor();
      await expectSound();
      await fillAll(page);
      const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Upload…" }).click()]);
      await chooser.setFiles({ name: "stations.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") });
      await expect.poll(() => input(page, "stations").inputValue()).toMatch(/stations\.csv$/);
      await page.getByText("All 13 inputs have values").waitFor();
      expect(await page.getByRole("tabpanel").textContent()).toContain("--begin '2026-11-13 23:00:00+00:00'");
      await page.keyboard.press("Control+Enter");
      launched = await openedExecution(page);
    });
    const inputs = await inputsOf(launched);
    expect(inputs).toMatchObject({
      count: primitive({ integer: "9007199254740993" }),
      share: primitive({ floatValue: 0.001 }),
      note: primitive({ stringValue: "as ever" }),
      early: primitive({ boolean: true }),
      begin: primitive({ datetime: "2026-11-13T23:00:00Z" }),
      wait: primitive({ duration: "5400s" }),
      colour: primitive({ stringValue: "green" }),
      regions: { collection: { literals: [primitive({ stringValue: "berlin" }), primitive({ stringValue: "hamburg" })] } },
      weights: { map: { literals: { cold: primitive({ integer: "-5" }) } } },
      limit: { scalar: { union: { value: primitive({ floatValue: 0.05 }), type: { simple: "FLOAT", structure: { tag: "float" } } } } },
      params: { scalar: { binary: { tag: "msgpack" } } },
      table: { scalar: { structuredDataset: { uri: "s3://weather/2026", metadata: { structuredDatasetType: { format: "parquet" } } } } },
    });
    expect(Buffer.from((inputs["params"] as { scalar: { binary: { value: string } } }).scalar.binary.value, "base64").toString("hex")).toBe(
      "84a5646570746808a56d6f64656ca454524545a46e657874c0a472617465cb3f847ae147ae147b",
    );
    expect((inputs["stations"] as { scalar: { blob: { uri: string } } }).scalar.blob.uri).toMatch(/^s3:.*\/stations\.csv$/);
    expect((await waitForEnd(access.client, { ...TARGET, name: launched }, 60_000)).closure?.phase).toBe(4);
  });

  test("a relaunch begins with the values of the execution, and marks what differs", { timeout: 300_000 }, async () => {
    let again = "";
    await journey(async ({ page, open, expectSound }) => {
      await open(`${SCOPE}/executions/${launched}`);
      await page.getByRole("button", { name: "Relaunch…" }).click();
      await expect.poll(() => input(page, "count").inputValue()).toBe("9007199254740993");
      await input(page, "count").fill("5");
      await input(page, "params.rate").fill("0.1");
      await page.getByText("was 0.01").waitFor();
      await expect.poll(() => page.url()).toContain("in=");
      // The address holds the entered values.
      const { pathname, search } = new URL(page.url());
      await open(pathname.replace("/console", "") + search);
      await page.getByText("# 2 values differ from execution").waitFor();
      await expectSound();
      await page.getByRole("button", { name: "Launch", exact: true }).click();
      again = await openedExecution(page);
    });
    const [before, after] = [await inputsOf(launched), await inputsOf(again)];
    expect(after["count"]).toEqual(primitive({ integer: "5" }));
    const unchanged = (inputs: object) => Object.entries(inputs).filter(([name]) => name !== "count" && name !== "params");
    expect(unchanged(after)).toEqual(unchanged(before));
  });

  test("a gate asks for its value and its approval in the pane of its node", { timeout: 300_000 }, async () => {
    const launchPlan = { ...TARGET, resourceType: 3, name: "journeys.gates" };
    await access.client.admin.createExecution({ ...TARGET, name: "asks", spec: { launchPlan, metadata: {} }, inputs: {} });
    await journey(async ({ page, open, expectSound }) => {
      await open(`${SCOPE}/executions/asks?tab=timeline`);
      const row = (name: RegExp) => page.getByRole("treegrid").getByRole("row", { name });
      await row(/title signal · n0/).click();
      await page.getByRole("region", { name: "Question title" }).waitFor();
      await input(page, "title").fill("Report");
      // Besides the page and the node: rights, signals and the workflow.
      await expectSound(7);
      await page.getByRole("button", { name: "Send" }).click();
      await row(/consent approval · n1/).click();
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByText("Succeeded", { exact: true }).first().waitFor();
    });
    expect((await waitForEnd(access.client, { ...TARGET, name: "asks" }, 60_000)).closure?.phase).toBe(4);
  });

  test.each([
    ["a phone, dark", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }],
    ["a screen", {}],
    ["forced colours", { forcedColors: "active" }],
  ] as const)("the form is sound: %s", { timeout: 300_000 }, async (_, options) => {
    await journey(async ({ page, open, expectSound }) => {
      for (const query of [`wf=${TYPES}`, `from=${launched}`]) {
        await open(`${SCOPE}/launch?${query}`);
        await page.getByText("How it runs").waitFor();
        await expectSound();
        const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        expect([query, overflow]).toEqual([query, 0]);
      }
    }, options);
  });
});
