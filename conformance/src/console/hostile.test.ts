import { NodeExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { findChromium } from "@flyte-ts/test-servers";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { TARGET } from "../stack/shell-tasks.js";
import type { WatchedPage } from "./fixtures/console-browser.fixture.js";
import { type ConsoleStack, startConsoleStack } from "./fixtures/console-stack.fixture.js";
import {
  addHostileEvents,
  EXECUTION,
  MARKUP,
  OVERRIDE,
  REFUSED,
  registerHostileForm,
  startHostileExecution,
  TURNED,
} from "./fixtures/hostile-content.fixture.js";
import { misplacedTexts } from "./fixtures/text-order.fixture.js";

const chromium = findChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;
const PATH = `${SCOPE}/executions/${EXECUTION}`;
const ID = { ...TARGET, name: EXECUTION };
const CAUSE = `\u202e${MARKUP}`;

describe.runIf(chromium !== undefined)("hostile content in the console", { timeout: 300_000 }, () => {
  let access: ConsoleStack["access"];
  let origin: string;
  let journey: ConsoleStack["journey"];
  let close: ConsoleStack["close"] | undefined;
  let form: string;

  beforeAll(async () => {
    ({ access, origin, journey, close } = await startConsoleStack(chromium ?? "", { stepMs: 30_000 }));
    await startHostileExecution(access.client);
    form = await registerHostileForm(access.client);
    const phaseOf = async (nodeId: string) =>
      (await access.client.admin.getNodeExecution({ id: { executionId: ID, nodeId } }).catch(() => undefined))?.closure?.phase;
    const arePhases = async (): Promise<void> => {
      const phases = [await phaseOf("n0"), await phaseOf("n1")];
      if (phases[0] !== Phase.FAILED || phases[1] !== Phase.RUNNING) throw new Error(`the nodes have the phases ${phases.join(", ")}`);
    };
    await vi.waitFor(arePhases, { timeout: 60_000, interval: 200 });
    await addHostileEvents(access.client);
  }, 300_000);
  afterAll(() => close?.(), 60_000);

  /** Runs a journey in which no text becomes a script, a dialog, a request or another order. */
  async function guarded(work: (at: WatchedPage & { expectTame(): Promise<void> }) => Promise<void>): Promise<void> {
    await journey(async (at) => {
      const { page } = at;
      const signs: string[] = [];
      page.on("dialog", (dialog) => {
        signs.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.context().on("page", (opened) => signs.push(`page ${opened.url()}`));
      page.on("requestfinished", (request) => {
        if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin)) signs.push(`request ${request.url()}`);
      });
      page.on("requestfailed", (request) => {
        const isOurs = request.url().startsWith(origin);
        // A request that a policy refuses leaves the browser no more than one that is not made.
        if (!isOurs && request.failure()?.errorText !== "csp") signs.push(`${request.failure()?.errorText} ${request.url()}`);
      });
      const expectTame = async (): Promise<void> => {
        expect(signs).toEqual([]);
        expect(await page.evaluate("window.hostile")).toBeUndefined();
        expect(await page.evaluate(misplacedTexts)).toEqual([]);
        const isForeign = (href: string) => !/^https?:/.test(href);
        const links = await page.locator("a").evaluateAll((all) => all.map((each) => Reflect.get(each, "href") as string));
        expect(links.filter(isForeign)).toEqual([]);
      };
      await work({ ...at, expectTame });
    });
  }

  /** Expects that an override of direction is shown by its name and does not turn its line. */
  async function expectVisibleMarks(region: Locator): Promise<void> {
    await region.getByText(TURNED.replace(OVERRIDE, "U+202E")).first().waitFor();
    expect(await region.textContent()).not.toMatch(/\p{Bidi_Control}/u);
  }

  test("a log is text, and a line of a megabyte is cut", async () => {
    await guarded(async ({ page, open, expectSound, expectTame }) => {
      await open(`${PATH}?tab=timeline&node=n0&pane=log`);
      await page.getByText("more characters: download").first().waitFor();
      await page.getByText(MARKUP).first().waitFor();
      await page.getByText("click", { exact: false }).first().waitFor();
      expect(await page.getByRole("log").locator("a, img, iframe, script").count()).toBe(0);
      await expectVisibleMarks(page.getByRole("log"));
      await expectSound();
      await expectTame();
    });
  });

  test("links of an attempt lead to the web only", async () => {
    await guarded(async ({ page, open, expectSound, expectTame }) => {
      await open(`${PATH}?tab=timeline&node=n1`);
      await page.getByRole("link", { name: "gol" }).waitFor();
      expect(await page.getByRole("link", { name: /^(script|data)\b/ }).count()).toBe(0);
      await expectSound();
      await expectTame();
    });
  });

  test("a deck runs without the origin of the console and reaches no other", async () => {
    await guarded(async ({ page, open, expectTame }) => {
      await open(`${PATH}?tab=timeline&node=n1&pane=deck`);
      await page.frameLocator('iframe[title="Deck of n1"]').getByText(REFUSED).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/console${PATH}`);
      await expectTame();
      // Opened alone, it has no origin either.
      await page.goto(`${origin}/console/deck/${TARGET.project}/${TARGET.domain}/${EXECUTION}/n1`);
      await page.getByText(REFUSED).waitFor();
    });
  });

  test("the cause of an abort and an error are text", async () => {
    await access.client.admin.terminateExecution({ id: ID, cause: CAUSE });
    await waitForEnd(access.client, ID, 120_000);
    await guarded(async ({ page, open, settled, expectSound, expectTame }) => {
      await open(PATH);
      await page.getByText(MARKUP).first().waitFor();
      await settled();
      await expectSound();
      await expectTame();
      await open(`${PATH}?tab=errors`);
      await page.getByRole("region", { name: "Message" }).getByText(MARKUP).first().waitFor();
      await expectVisibleMarks(page.getByRole("region", { name: "Message" }));
      await settled();
      await expectSound();
      await expectTame();
      await open(`${SCOPE}/executions`);
      await page.getByRole("row", { name: new RegExp(EXECUTION) }).waitFor();
      expect(await page.getByRole("table").locator("img, iframe, script").count()).toBe(0);
      await expectTame();
    });
  });

  test("labels, descriptions, inputs and names are text on every page", async () => {
    const name = encodeURIComponent(form);
    await guarded(async ({ page, open, settled, expectSound, expectTame }) => {
      for (const path of [
        `${PATH}?tab=settings`,
        `${PATH}?tab=io`,
        `${PATH}?tab=graph`,
        `${SCOPE}/executions`,
        SCOPE,
        `${SCOPE}/workflows`,
        `${SCOPE}/workflows/${name}?tab=versions`,
        `${SCOPE}/workflows/${name}?tab=plans`,
        `${SCOPE}/workflows/${name}?tab=graph`,
        `${SCOPE}/launchPlans/${name}`,
        `${SCOPE}/tasks`,
        `${SCOPE}/launch?wf=${name}`,
      ]) {
        await open(path);
        await settled();
        await expectSound();
        await expectTame();
        const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        expect([path, overflow]).toEqual([path, 0]);
      }
    });
  });

  test("values of the form are launched as they are, and shown as text", async () => {
    await guarded(async ({ page, open, settled, expectSound, expectTame }) => {
      await open(`${SCOPE}/launch?wf=${encodeURIComponent(form)}`);
      await page.getByRole("button", { name: "Launch", exact: true }).click();
      await page.waitForURL(/\/executions\/[a-z0-9-]+/);
      const started = new URL(page.url()).pathname.replace("/console", "");
      await open(`${started}?tab=io`);
      const inputs = page.getByRole("region", { name: "Inputs" });
      await inputs.getByText(MARKUP).first().waitFor();
      expect(await inputs.locator("a, img, iframe, script").count()).toBe(0);
      await settled();
      await expectSound();
      await expectTame();
    });
  });
});
