import type { FlyteClient } from "@flyte-ts/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";
import { connectToStack, type StackClient } from "../stack/use-stack.js";
import { DevSession, newProject, type NewProject, save } from "./dev-session.fixture.js";

// `flyte-ts dev --remote` on a running stack; DEV_LIMIT_MS bounds the time from a save to its
// answer, for a machine that does nothing else.
const limit = Number(process.env["DEV_LIMIT_MS"] ?? "120000");
const scope = { project: "flytesnacks", domain: "development" };
let stack: RunningStack;
let client: FlyteClient;
let close: StackClient["close"];
let project: NewProject;
beforeAll(async () => {
  stack = await startStack();
  ({ client, close } = connectToStack(stack));
  project = newProject();
}, 400_000);
afterAll(async () => {
  project.remove();
  await close();
}, 60_000);

async function versions(): Promise<number> {
  const { workflows } = await client.admin.listWorkflows({ id: { ...scope, name: "hello.hello" }, limit: 100 });
  return workflows.length;
}

test("a sound save registers and starts an execution; a mistake in types registers nothing", { timeout: 600_000 }, async () => {
  const session = new DevSession(project, ["--remote", "src/flows/hello.ts", "hello"], `localhost:${stack.api}`);
  await session.until("started ");
  const followed = await session.until("ended after");
  expect(followed).toMatch(/execution +SUCCEEDED\n/);
  expect(followed).toContain("length = 13\n");
  expect(await versions()).toBe(1);
  save(project.module, "=> text.length", "=> text.size");
  expect(await session.until("types have mistakes")).not.toContain("registered");
  const mended = save(project.module, "=> text.size", "=> text.length + 1");
  const answer = await session.until("started ");
  await session.until(")");
  const elapsed = Math.round(performance.now() - mended);
  process.stdout.write(`dev: a mended mistake is registered and started after ${elapsed} ms\n`);
  expect(answer).toMatch(/registered version \S+/);
  expect(await versions()).toBe(2);
  expect(elapsed).toBeLessThan(limit);
  expect(await session.interrupt()).toBe(0);
  const { executions } = await client.admin.listExecutions({ id: scope, limit: 10 });
  expect(executions.filter(({ spec }) => spec?.launchPlan?.name === "hello.hello")).toHaveLength(2);
});
