import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { create, toJson } from "@bufbuild/protobuf";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { findHeadlessChromium } from "@flyte-ts/test-servers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerShellWorkflow, TARGET } from "../stack/shell-tasks.js";
import { administratorOf, enterPassword, programCredentials, runAccounts, type User } from "./fixtures/accounts.fixture.js";
import { type ConsoleStack, startConsoleStack } from "./fixtures/console-stack.fixture.js";
import { registerGates, registerNoted } from "./fixtures/launch-workflows.fixture.js";

const chromium = findHeadlessChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;
/** Lifetime of a token: journeys outlast it, and renew it. */
const TOKEN_SECONDS = 15;
const VIEWER = { name: "vera", password: "a password of hers" };

describe.runIf(chromium !== undefined)("the console of a stack with sign-in", { timeout: 300_000 }, () => {
  let stack: ConsoleStack["stack"];
  let access: ConsoleStack["access"];
  let origin: string;
  let journey: ConsoleStack["journey"];
  let close: ConsoleStack["close"] | undefined;
  let admin: User;

  beforeAll(async () => {
    const environment = { FLYTE_TS_ADMIN_AUTH__BUILTIN__ACCESSTOKENSECONDS: String(TOKEN_SECONDS) };
    const options = { flags: ["--no-example", "--auth"], credentials: programCredentials, environment, stepMs: 90_000 };
    ({ stack, access, origin, journey, close } = await startConsoleStack(chromium ?? "", options));
    admin = administratorOf(stack);
    runAccounts(stack, ["user", VIEWER.name], VIEWER.password);
    runAccounts(stack, ["grant", "subject", VIEWER.name, "viewer", TARGET.project]);
    const launchPlan = await registerShellWorkflow(access.client, "journeys.long", [{ id: "n0", script: "sleep 300", after: [] }]);
    await access.client.admin.createExecution({ ...TARGET, name: "long", spec: { launchPlan, metadata: {} }, inputs: {} });
  }, 300_000);
  afterAll(() => close?.(), 60_000);
  const launchPlanOf = (name: string) => ({ ...TARGET, resourceType: ResourceType.LAUNCH_PLAN, name });
  const input = (page: Page, name: string) => page.getByLabel(name, { exact: true });
  const openedExecution = async (page: Page): Promise<string> => {
    await page.waitForURL(/\/executions\/[a-z0-9-]+/);
    return new URL(page.url()).pathname.split("/").at(-1) ?? "";
  };
  const integersOf = async (name: string) => {
    const { fullInputs } = await access.client.admin.getExecutionData({ id: { ...TARGET, name } });
    return (toJson(LiteralMapSchema, fullInputs ?? create(LiteralMapSchema)) as { readonly literals?: object }).literals;
  };
  /** Opens the audit log and waits for an entry of the administrator. */
  async function expectAudited(page: Page, entries: readonly RegExp[]): Promise<void> {
    await page.goto(`${origin}/console${SCOPE}/audit`);
    const rows = page.getByRole("table", { name: "Audit log" }).getByRole("row");
    for (const entry of entries)
      await rows.filter({ hasText: entry }).filter({ hasText: admin.name }).filter({ hasText: "OK" }).first().waitFor();
  }

  /** Opens a page without a session, which leads to the sign-in and back. */
  async function signIn(page: Page, path: string, user: User): Promise<void> {
    await page.goto(`${origin}/console${path}`);
    await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
    await enterPassword(page, user);
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

  test("a relaunch with one input changed, a schedule and a trigger stand in the audit log", async () => {
    await registerNoted(access.client, "journeys.noted");
    const schedule = { ScheduleExpression: { case: "cronSchedule" as const, value: { schedule: "0 0 1 1 *" } } };
    const workflowId = { ...TARGET, resourceType: ResourceType.WORKFLOW, name: "journeys.long" };
    await access.client.admin.createLaunchPlan({ id: launchPlanOf("journeys.yearly"), spec: { workflowId, entityMetadata: { schedule } } });
    await access.client.admin.createExecution({
      ...TARGET,
      name: "noted",
      spec: { launchPlan: launchPlanOf("journeys.noted"), metadata: {} },
    });
    await journey(async ({ page }) => {
      await signIn(page, `${SCOPE}/executions/noted`, admin);
      await page.getByRole("button", { name: "Relaunch…" }).click();
      await expect.poll(() => input(page, "count").inputValue()).toBe("4");
      await input(page, "count").fill("5");
      await page.getByRole("button", { name: "Launch", exact: true }).click();
      await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/executions\/(?!noted$)/);
      const again = await openedExecution(page);
      expect(await integersOf(again)).toMatchObject({
        count: { scalar: { primitive: { integer: "5" } } },
        note: { scalar: { primitive: { stringValue: "as ever" } } },
      });
      await page.goto(`${origin}/console${SCOPE}/launchPlans/journeys.yearly`);
      await page.getByRole("button", { name: "Activate" }).click();
      await page.getByRole("status").getByText("Version 1 of journeys.yearly is activated").waitFor();
      await page.goto(`${origin}/console${SCOPE}/automation?tab=triggers`);
      await page.getByRole("button", { name: "New trigger" }).click();
      await input(page, "Name").fill("on-push");
      await page.getByLabel("Starts the launch plan").fill("journeys.yearly");
      await page.getByRole("button", { name: "GitHub sends" }).click();
      await page.getByRole("button", { name: "Create" }).click();
      await page.getByRole("dialog", { name: "Secret of on-push" }).waitFor();
      await expectAudited(page, [new RegExp(`CreateExecution.*${again}`), /UpdateLaunchPlan.*journeys\.yearly/, /CreateTrigger.*on-push/]);
    });
  });

  test("a signal, an approval, a rejection and a recovery stand in the audit log", async () => {
    await registerGates(access.client, "journeys.gates");
    const launchPlan = launchPlanOf("journeys.gates");
    for (const name of ["granted", "denied"])
      await access.client.admin.createExecution({ ...TARGET, name, spec: { launchPlan, metadata: {} } });
    const row = (page: Page, name: RegExp) => page.getByRole("treegrid").getByRole("row", { name });
    await journey(async ({ page }) => {
      await signIn(page, `${SCOPE}/executions/granted?tab=timeline`, admin);
      for (const [name, act, end] of [
        ["granted", "Approve", "Succeeded"],
        ["denied", "Reject", "Failed"],
      ] as const) {
        await page.goto(`${origin}/console${SCOPE}/executions/${name}?tab=timeline`);
        await row(page, /n0/).click();
        await input(page, "title").fill("Report");
        await page.getByRole("button", { name: "Send" }).click();
        await row(page, /n1/).click();
        await page.getByRole("button", { name: act }).click();
        await page.getByText(end, { exact: true }).first().waitFor();
      }
      await page.getByRole("button", { name: "Recover from here" }).click();
      await page.getByText("Copy of").waitFor();
      const recovered = await openedExecution(page);
      expect(recovered).not.toBe("denied");
      await expectAudited(page, [/SetSignal.*granted/, /SetSignal.*denied/, new RegExp(`RecoverExecution.*(denied|${recovered})`)]);
      await access.client.admin.terminateExecution({ id: { ...TARGET, name: recovered }, cause: "the journey is over" });
    });
  });

  test("a token that expires is renewed without losing a half-filled form", async () => {
    await registerNoted(access.client, "journeys.renewed");
    await journey(async ({ page }) => {
      await signIn(page, `${SCOPE}/launch?wf=journeys.renewed`, admin);
      await input(page, "count").fill("17");
      const windows: string[] = [];
      page.context().on("page", (opened) => windows.push(opened.url()));
      const status = async () => (await page.request.get(`${origin}/api/v1/my_access/${TARGET.project}/${TARGET.domain}`)).status();
      await expect.poll(status, { timeout: 60_000, interval: 500 }).toBe(401);
      await page.getByRole("button", { name: "Launch", exact: true }).click();
      const launched = await openedExecution(page);
      expect(windows).toEqual([]);
      expect(await integersOf(launched)).toMatchObject({ count: { scalar: { primitive: { integer: "17" } } } });
      expect(await status()).toBe(200);
    });
  });

  test.each(["127.0.0.1", "localhost"])("a page of %s at another port cannot act with the sign-in", async (host) => {
    const foreign = createServer((_, response) =>
      response.setHeader("content-type", "text/html").end("<!doctype html><title>other</title>"),
    );
    await once(foreign.listen(0, "127.0.0.1"), "listening");
    const port = (foreign.address() as AddressInfo).port;
    const listed = async () => (await access.client.admin.listExecutions({ id: TARGET, limit: 1_000 })).executions.length;
    const before = await listed();
    const body = JSON.stringify({ ...TARGET, name: `forged-${port}`, spec: { launchPlan: launchPlanOf("journeys.long"), metadata: {} } });
    try {
      await journey(async ({ page }) => {
        await signIn(page, `${SCOPE}/executions`, admin);
        const statuses: number[] = [];
        page.on("response", (response) => {
          if (response.request().method() === "POST") statuses.push(response.status());
        });
        await page.goto(`http://${host}:${port}/`);
        for (const type of ["text/plain", "application/json"]) {
          const init = {
            method: "POST",
            mode: type === "text/plain" ? "no-cors" : "cors",
            credentials: "include",
            headers: { "content-type": type },
            body,
          };
          await page.evaluate(`fetch(${JSON.stringify(`${origin}/api/v1/executions`)}, ${JSON.stringify(init)}).catch(() => undefined)`);
        }
        const form = `<form method="post" enctype="text/plain" action="${origin}/api/v1/executions"><input name='${body.slice(0, -1)},"x":"' value='"}'></form>`;
        await page.setContent(form);
        await Promise.all([page.waitForEvent("response"), page.evaluate("document.forms[0].submit()")]);
        await expect.poll(() => statuses.length).toBeGreaterThanOrEqual(2);
        expect(statuses.filter((status) => status < 400)).toEqual([]);
      });
    } finally {
      foreign.close();
    }
    expect(await listed()).toBe(before);
  });
});
