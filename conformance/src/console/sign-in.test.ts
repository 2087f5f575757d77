import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findChromium } from "@flyte-ts/test-servers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerShellWorkflow, TARGET } from "../stack/shell-tasks.js";
import { type ConsoleStack, programCredentials, runAccounts, startConsoleStack } from "./console-stack.fixture.js";

const chromium = findChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;
const VIEWER = { name: "vera", password: "a password of hers" };

describe.runIf(chromium !== undefined)("the console of a stack with sign-in", () => {
  let stack: ConsoleStack["stack"];
  let access: ConsoleStack["access"];
  let origin: string;
  let journey: ConsoleStack["journey"];
  let close: ConsoleStack["close"] | undefined;
  let admin: { readonly name: string; readonly password: string };

  beforeAll(async () => {
    const options = { flags: ["--no-example", "--auth"], credentials: programCredentials };
    ({ stack, access, origin, journey, close } = await startConsoleStack(chromium ?? "", options));
    admin = { name: "admin", password: readFileSync(join(stack.folder, "secrets", "admin-password"), "utf8").trim() };
    runAccounts(stack, ["user", VIEWER.name], VIEWER.password);
    runAccounts(stack, ["grant", "subject", VIEWER.name, "viewer", TARGET.project]);
    const launchPlan = await registerShellWorkflow(access.client, "journeys.long", [{ id: "n0", script: "sleep 300", after: [] }]);
    await access.client.admin.createExecution({ ...TARGET, name: "long", spec: { launchPlan, metadata: {} }, inputs: {} });
  }, 300_000);
  afterAll(() => close?.(), 60_000);

  /** Opens a page without a session, which leads to the sign-in and back. */
  async function signIn(page: Page, path: string, { name, password }: { readonly name: string; readonly password: string }): Promise<void> {
    await page.goto(`${origin}/console${path}`);
    await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(/\/console\//);
    await page.getByRole("heading", { level: 1 }).waitFor();
  }

  test("a page without a session leads to the sign-in and back", async () => {
    await journey(async ({ page }) => {
      await signIn(page, `${SCOPE}/executions/long?tab=timeline`, admin);
      await page.getByRole("treegrid").getByRole("row", { name: /n0/ }).waitFor();
      const { pathname, search } = new URL(page.url());
      expect(pathname + search).toBe(`/console${SCOPE}/executions/long?tab=timeline`);
    });
  });

  test("acts that a viewer may not do are disabled, and name the role that they need", async () => {
    await journey(async ({ page }) => {
      await signIn(page, `${SCOPE}/executions/long`, VIEWER);
      // Admin reads roles again after some seconds.
      await expect
        .poll(async () => (await page.request.get(`${origin}/api/v1/my_access/${TARGET.project}/${TARGET.domain}`)).text())
        .toContain("viewer");
      await page.reload();
      await page.mouse.move(300, 300);
      const abort = page.getByRole("button", { name: "Abort" });
      await expect.poll(() => abort.getAttribute("title")).toBe("You are viewer here; the act needs the role runner");
      expect(await abort.getAttribute("aria-disabled")).toBe("true");
      await abort.click({ force: true });
      expect(await page.getByRole("dialog").count()).toBe(0);
    });
  });

  test("an abort in the page stands in the audit log with its caller", async () => {
    await journey(async ({ page }) => {
      await signIn(page, `${SCOPE}/executions/long`, admin);
      await page.getByRole("button", { name: "Abort" }).click();
      await page.getByLabel("Cause").fill("the journey is over");
      await page.getByRole("dialog").getByRole("button", { name: "Abort" }).click();
      await page.getByText(/Aborted by .*the journey is over/).waitFor();
      await page.goto(`${origin}/console${SCOPE}/audit`);
      const entry = page.getByRole("table", { name: "Audit log" }).getByRole("row", { name: /TerminateExecution.*"?long"?.*OK/ });
      await entry.waitFor();
      expect(await entry.textContent()).toContain("admin");
    });
  });

  test("a session that was revoked ends without losing what was entered", async () => {
    await journey(async ({ page }) => {
      await signIn(page, `${SCOPE}/executions`, admin);
      await page.getByRole("button", { name: "phase any" }).waitFor();
      await page.context().clearCookies();
      await page.getByRole("button", { name: "phase any" }).click();
      await page.getByRole("menuitem", { name: "Failed" }).click();
      await page.getByText("Your session has ended.").waitFor();
      const popup = page.waitForEvent("popup");
      await page.getByRole("button", { name: "Sign in again" }).first().click();
      const window = await popup;
      await window.getByLabel("Name", { exact: true }).fill(admin.name);
      await window.getByLabel("Password").fill(admin.password);
      await window.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("Your session has ended.").waitFor({ state: "hidden" });
      expect(page.url()).toMatch(/\?phase=FAILED$/);
    });
  });
});
