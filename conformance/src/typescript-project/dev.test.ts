import { afterAll, beforeAll, expect, test } from "vitest";
import { DevSession, isRunning, newProject, type NewProject, save } from "./dev-session.fixture.js";

// `flyte-ts dev` in this process; DEV_LIMIT_MS bounds the time from a save to its answer, for a
// machine that does nothing else.
const limit = Number(process.env["DEV_LIMIT_MS"] ?? "60000");
const SAVES = 20;
let project: NewProject;
let session: DevSession;
beforeAll(() => {
  project = newProject();
  session = new DevSession(project, ["src/flows/hello.ts", "hello", "--name", "you"]);
}, 120_000);
afterAll(() => project.remove());

test("the workflow runs at the start, and again after each sound save", { timeout: 240_000 }, async () => {
  expect(await session.until("ran after")).toContain('greeting = "Hello, you!"');
  const at = save(project.module, "Hello, ", "Good day, ");
  const answer = await session.until("ran after");
  report("a sound save", at);
  expect(answer).toContain('greeting = "Good day, you!"');
  expect(answer).toContain("src/flows/hello.ts changed");
});

test("a type error is reported, and nothing runs until it is fixed", { timeout: 240_000 }, async () => {
  const at = save(project.module, "=> text.length", "=> text.size");
  const answer = await session.until("types have mistakes");
  report("a mistake in types", at);
  expect(answer).toMatch(/src\/flows\/hello\.ts\(\d+,\d+\): error TS\d+/);
  const mended = save(project.module, "=> text.size", "=> text.length");
  const next = await session.until("ran after");
  report("a mended mistake", mended);
  expect(next.match(/SUCCEEDED {2}hello\.count/g)).toHaveLength(1);
  expect(answer).not.toContain("SUCCEEDED");
});

test("graph errors and syntax errors are reported", { timeout: 240_000 }, async () => {
  save(project.module, "retries: 2", 'name: "hello.count"');
  await session.until("changed");
  expect(await session.until("hello.count")).not.toContain("SUCCEEDED");
  save(project.module, 'name: "hello.count"', "retries: 2 +");
  expect(await session.until("types have mistakes")).toContain("error TS");
  save(project.module, "retries: 2 +", "retries: 2");
  expect(await session.until("ran after")).toContain("Good day");
});

test(`${SAVES} saves leave no process behind, and Ctrl-C ends all`, { timeout: 600_000 }, async () => {
  for (let count = 0; count < SAVES; count++) {
    save(project.module, count === 0 ? "Good day, " : `Day ${count - 1}, `, `Day ${count}, `);
    // Every second save comes while the work after the one before is under way.
    if (count % 2 === 1) await session.until(`greeting = "Day ${count}, you!"`);
  }
  await session.until("ran after");
  await expect.poll(() => session.descendants(), { timeout: 30_000 }).toEqual([]);
  save(project.module, `Day ${SAVES - 1}, `, "Last, ");
  await session.until("changed");
  await expect.poll(() => session.descendants().length, { timeout: 30_000, interval: 5 }).toBeGreaterThan(0);
  const running = session.descendants();
  expect(await session.interrupt(), session.output).toBe(0);
  await expect.poll(() => running.filter(isRunning), { timeout: 10_000 }).toEqual([]);
});

function report(what: string, since: number): void {
  const elapsed = Math.round(performance.now() - since);
  process.stdout.write(`dev: ${what} is answered after ${elapsed} ms\n`);
  expect(elapsed).toBeLessThan(limit);
}
