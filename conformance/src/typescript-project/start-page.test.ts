import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { testWatchdog } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CodeBlock, codeBlocks, commands, writeFiles } from "../plugins/tutorial-page.js";
import { waitForEnd } from "../stack/executions.js";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";
import { connectToStack, type StackClient } from "../stack/use-stack.js";
import { INSTALL_OFFLINE, packSdk, type PublishedSdk, shell } from "./published-packages.fixture.js";

// Executes docs/typescript/start.md word for word in an empty folder. The packages are archives of
// this tree in place of published ones.
const PAGE = "docs/typescript/start.md";
const page = codeBlocks(PAGE);
const [install = "", init = "", testing = "", check = "", run = "", dev = "", remote = "", register = ""] = commands(page, "bash");
const scope = { project: "flytesnacks", domain: "development" };
const ORDERS = "src/flows/orders.ts";
let sdk: PublishedSdk;
let stack: RunningStack;
let user: StackClient;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-start-"));
  sdk = packSdk();
  stack = await startStack(["--no-example"]);
  user = connectToStack(stack);
}, 500_000);
afterAll(async () => {
  sdk.remove();
  await user.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Runs a command of the page. Returns its output; fails when the command fails. */
function follow(command: string): string {
  const env = { FLYTE_PLATFORM_URL: `localhost:${stack.api}` };
  const ended = shell(folder, command, { env });
  expect(ended, `${command}\n${ended.text}`).toMatchObject({ status: 0 });
  return ended.text;
}

/** Writes the file of a block, as the reader does. */
function create(path: string): void {
  const blocks: readonly CodeBlock[] = page.filter(({ file }) => file === path);
  expect(blocks).toHaveLength(1);
  writeFiles(blocks, folder);
}

test("the commands make a project that passes its tests", { timeout: 300_000 }, () => {
  const [, , ...names] = install.split(" ");
  follow(["npm", ...INSTALL_OFFLINE, ...names.map((name) => sdk.own[name] ?? name), ...sdk.others].join(" "));
  follow(init);
  expect(existsSync(join(folder, "flyte.config.ts"))).toBe(true);
  expect(follow(testing)).toMatch(/^. fail 0$/m);
});

test("the workflow of the page is sound, and runs in one process", { timeout: 300_000 }, () => {
  create(ORDERS);
  expect(follow(check)).toContain("entities are sound");
  expect(follow(run)).toContain("revenue = 69.5");
});

test("dev tells the mistake of the page, and runs again when it is undone", { timeout: 300_000 }, async () => {
  const session = start(dev);
  await session.until("revenue = 69.5");
  const file = join(folder, ORDERS);
  const sound = readFileSync(file, "utf8");
  const [, from = "", to = ""] =
    /Change `([^`]+)` to `([^`]+)`/.exec(readFileSync(join(import.meta.dirname, "../../..", PAGE), "utf8")) ?? [];
  writeFileSync(file, sound.replace(from, to));
  expect(await session.until("types have mistakes")).toMatch(/orders\.ts\(\d+,\d+\): error TS/);
  writeFileSync(file, sound);
  expect(await session.until("revenue = 69.5")).not.toContain("error");
  session.child.kill("SIGINT");
  await expect.poll(() => session.child.exitCode).toBe(0);
});

test("the workflow runs on a server with the same outputs", { timeout: 300_000 }, () => {
  expect(follow(remote)).toContain("revenue = 69.5");
});

test("the launch plan of the page starts the workflow within a minute or two", { timeout: 400_000 }, async () => {
  create("src/flows/schedule.ts");
  follow(register);
  const scheduled = async () => {
    const { executions } = await user.client.admin.listExecutions({ id: scope, limit: 100 });
    return executions.find(({ spec }) => spec?.launchPlan?.name === "schedule.everyMinute")?.id?.name;
  };
  await expect.poll(scheduled, { timeout: 200_000, interval: 500 }).toBeDefined();
  const name = (await scheduled()) ?? "";
  const { closure } = await waitForEnd(user.client, { ...scope, name }, 120_000);
  expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("SUCCEEDED");
});

/** Starts a command of the page that runs until it is interrupted. */
function start(command: string): { readonly child: ChildProcess; readonly until: (text: string) => Promise<string> } {
  const [, , ...args] = command.split(" ");
  const program = join(folder, "node_modules", "@flyte-ts", "cli", "flyte-ts.mjs");
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  testWatchdog().watch(child, "SIGTERM");
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    output += part;
  });
  const until = async (text: string) => {
    await expect.poll(() => output, { timeout: 120_000, interval: 10 }).toContain(text);
    const seen = output;
    output = "";
    return seen;
  };
  return { child, until };
}
