import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { findHeadlessChromium } from "@flyte-ts/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TARGET } from "../stack/shell-tasks.js";
import { administratorOf, enterPassword, programCredentials, runAccounts, type User } from "./fixtures/accounts.fixture.js";
import type { WatchedPage } from "./fixtures/console-browser.fixture.js";
import { type ConsoleStack, startConsoleStack } from "./fixtures/console-stack.fixture.js";

const chromium = findHeadlessChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };
const VIEWER = { name: "vera", password: "a password of hers" };
/** Time of one step, for machines with little to spare. */
const STEP_MS = 120_000;

/** Pages of the platform, and texts that each shows to an admin. */
const PAGES = [
  ["dataPlanes", "1 of 1 take work", "core-sleep, echo"],
  ["access", "What a role permits"],
  ["settings", "None is set"],
  ["settings?tab=retention", "would be deleted now"],
  ["settings?tab=notifications", "Nothing was sent"],
  ["about", "Apache License 2.0"],
] as const;

describe.runIf(chromium !== undefined)("the console's pages of the platform", () => {
  let console: ConsoleStack;
  let admin: User;

  beforeAll(async () => {
    const options = { flags: ["--no-example", "--auth"], credentials: programCredentials, stepMs: STEP_MS };
    console = await startConsoleStack(chromium ?? "", options);
    admin = administratorOf(console.stack);
    runAccounts(console.stack, ["user", VIEWER.name], VIEWER.password);
    runAccounts(console.stack, ["grant", "subject", VIEWER.name, "viewer", TARGET.project]);
  }, 300_000);
  afterAll(() => console.close(), 60_000);

  /** Signs in before the first page is opened: without a session its calls would be refused. */
  async function signIn({ page }: WatchedPage, user: User): Promise<void> {
    await page.goto(`${console.origin}/login?redirect_url=${encodeURIComponent(`/console${SCOPE}/about`)}`);
    await enterPassword(page, user);
    await page.getByRole("heading", { level: 1, name: "About" }).waitFor();
  }

  test("each page is sound in light and in dark", async () => {
    await console.journey(async (at) => {
      await signIn(at, admin);
      for (const [path, ...texts] of PAGES) {
        await at.open(`${SCOPE}/${path}`);
        for (const text of texts) await at.page.getByText(text).first().waitFor();
        for (const colorScheme of ["light", "dark"] as const) {
          await at.show({ colorScheme });
          await at.expectSound();
        }
      }
      expect(at.page.url()).toContain("/about");
    });
  });

  test("each page has room on a phone", async () => {
    await console.journey(async (at) => {
      await signIn(at, admin);
      for (const [path, ...texts] of PAGES) {
        await at.open(`${SCOPE}/${path}`);
        for (const text of texts) await at.page.getByText(text).first().waitFor();
        expect([path, await at.page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, 390]);
        await at.expectSound();
      }
    }, PHONE);
  });

  test("a role is given, explained and taken away", async () => {
    await console.journey(async (at) => {
      const { page, open, expectSound } = at;
      await signIn(at, admin);
      await open(`${SCOPE}/access`);
      await page.getByRole("button", { name: "Give a role" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel(/Subject/).fill("rosa");
      await dialog.getByLabel("Role").selectOption("runner");
      await expectSound();
      await dialog.getByRole("button", { name: "Give" }).click();
      await page.getByText(`rosa is runner in ${TARGET.project} / ${TARGET.domain}`).waitFor();
      await page.getByRole("row", { name: /rosa subject runner/ }).waitFor();
      await page.getByLabel("Subject").fill("rosa");
      await page.getByRole("row", { name: /runner .*given to the subject/ }).waitFor();
      expect(page.url()).toContain("subject=rosa");
      await expectSound();
      await page.getByRole("button", { name: "Take away runner from rosa" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Take away" }).click();
      await page.getByText("No role applies").waitFor();
    });
  });

  test("an attribute of the project is overridden by that of the domain, and deleted", async () => {
    await console.journey(async (at) => {
      const { page, open, expectSound } = at;
      await signIn(at, admin);
      await open(`${SCOPE}/settings`);
      for (const place of ["The project", "This domain"]) {
        await page.getByRole("button", { name: "Set an attribute" }).click();
        await page.getByRole("combobox").selectOption("Pool of data planes");
        await page.getByRole("button", { name: place }).click();
        await page.getByRole("button", { name: "Set", exact: true }).click();
        await page.getByRole("dialog").waitFor({ state: "detached" });
        await page.getByRole("row", { name: place === "The project" ? /the project/ : /domain development/ }).waitFor();
      }
      await page.getByRole("row", { name: /the project .*overridden by the domain/ }).waitFor();
      await expectSound();
      await page
        .getByRole("row", { name: /domain development/ })
        .getByRole("button", { name: /Delete/ })
        .click();
      await page.getByRole("row", { name: /the project .*in effect/ }).waitFor();
      const { project } = TARGET;
      const stored = await console.access.client.admin.getProjectAttributes({
        project,
        resourceType: MatchableResource.CLUSTER_ASSIGNMENT,
      });
      expect(stored.attributes?.matchingAttributes?.target.value).toMatchObject({ clusterPoolName: "gpu" });
    });
  });

  test("an attribute of a workflow is set, changed and deleted", async () => {
    const workflow = "journeys.train";
    const read = async () =>
      (await console.access.client.admin.getWorkflowAttributes({ ...TARGET, workflow, resourceType: MatchableResource.CLUSTER_ASSIGNMENT }))
        .attributes?.matchingAttributes?.target.value;
    await console.journey(async (at) => {
      const { page, open, expectSound } = at;
      await signIn(at, admin);
      await open(`${SCOPE}/settings`);
      await page.getByRole("button", { name: "Set an attribute" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("combobox").first().selectOption("Pool of data planes");
      await dialog.getByRole("button", { name: "A workflow" }).click();
      await dialog.getByLabel("Workflow").fill(workflow);
      await expectSound();
      await dialog.getByRole("button", { name: "Set", exact: true }).click();
      const row = page.getByRole("row", { name: new RegExp(`workflow ${workflow}`) });
      await row.waitFor();
      expect(await read()).toMatchObject({ clusterPoolName: "gpu" });
      await row.getByRole("button", { name: /Edit/ }).click();
      await dialog.getByLabel("Value as JSON").fill('{"clusterPoolName": "large"}');
      await dialog.getByRole("button", { name: "Set", exact: true }).click();
      await row.getByText("large").waitFor();
      expect(await read()).toMatchObject({ clusterPoolName: "large" });
      await row.getByRole("button", { name: /Delete/ }).click();
      await row.waitFor({ state: "detached" });
    });
  });

  test("a policy of retention is set, and given back to the configuration", async () => {
    await console.journey(async (at) => {
      const { page, open } = at;
      await signIn(at, admin);
      await open(`${SCOPE}/settings?tab=retention`);
      await page.getByLabel("Days to keep executions").fill("30");
      await page.getByRole("button", { name: "Set" }).click();
      await page.getByText("kept 30 days, as set for domain development").waitFor();
      await page.getByRole("button", { name: "As the project" }).click();
      await page.getByText("the configuration of admin").waitFor();
      expect(await page.getByText("kept forever").count()).toBe(1);
    });
  });

  test("a receiver of notifications is tried, and its reason is shown", async () => {
    await console.journey(async (at) => {
      const { page, open, expectSound } = at;
      await signIn(at, admin);
      await open(`${SCOPE}/settings?tab=notifications`);
      await page.getByLabel("Try a receiver").fill("webhook:nowhere");
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByText('Not accepted: no webhook named "nowhere"').waitFor();
      expect(page.url()).toContain("tab=notifications");
      await expectSound();
    });
  });

  test("a viewer sees what the role shows, and which role the rest needs", async () => {
    await console.journey(async (at) => {
      const { page, open, expectSound } = at;
      await signIn(at, VIEWER);
      // Admin reads roles again after some seconds.
      await expect
        .poll(async () => (await page.request.get(`${console.origin}/api/v1/my_access/${TARGET.project}/${TARGET.domain}`)).text())
        .toContain("viewer");
      await open(`${SCOPE}/dataPlanes`);
      await page.getByText("needs the role admin in all projects").waitFor();
      await expectSound();
      await open(`${SCOPE}/access`);
      await page.getByText("Reading and giving roles needs the role admin").waitFor();
      await page.getByText(VIEWER.name).first().waitFor();
      await expectSound();
      await open(`${SCOPE}/settings`);
      await page.mouse.move(300, 300);
      const button = page.getByRole("button", { name: "Set an attribute" });
      await expect.poll(() => button.getAttribute("title")).toBe("You are viewer here; the act needs the role admin");
      await expectSound();
    });
  });

  test("keys open the pages of the platform", async () => {
    await console.journey(async (at) => {
      const { page } = at;
      await signIn(at, admin);
      for (const [key, title] of [
        ["d", "Data planes"],
        ["r", "Access"],
        ["o", "Settings"],
        ["b", "About"],
      ] as const) {
        await page.keyboard.press("g");
        await page.keyboard.press(key);
        await page.getByRole("heading", { name: title, level: 1 }).waitFor();
      }
      expect(page.url()).toMatch(/\/about$/);
    });
  });
});
