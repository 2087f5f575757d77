import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { testWatchdog } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../repository.js";
import { waitForEnd } from "../stack/executions.js";
import { runPython, type RunningStack, startStack } from "../stack/stack-fixture.js";
import { connectToStack, type StackClient } from "../stack/use-stack.js";
import { PACKED_VERSION, packPublishedPackages } from "./packed-packages.fixture.js";
import { codeBlocks, commands, writeFiles } from "./tutorial-page.js";
import { builtProgram } from "../stack/built-program.js";

// Executes docs/plugins/write-a-plugin.md word for word, and measures how soon the platform uses
// the plugin. The packages are those of this tree; PLUGIN_TUTORIAL=install packs and installs them
// as the reader does, which needs the registry of npm.

const page = codeBlocks("docs/plugins/write-a-plugin.md");
const [install = "", harness = "", pyflyte = "", startJobService = "", startPlugin = ""] = commands(page, "bash");
const [, addPlugin = ""] = commands(page, "sh");
const isInstalled = process.env["PLUGIN_TUTORIAL"] === "install";
/** Short times after which propeller reports a missing plugin; heartbeats come every 10 s. */
const SOON = { FLYTE_TS_PROPELLER_PLUGINS__LISTENMS: "2000", FLYTE_TS_PROPELLER_PLUGINS__SILENTAFTERMS: "12000" };
/** Time from the start of a plugin service to its first report on a task that waits, ms. */
const SERVED_WITHIN_MS = 5_000;

const workspace = mkdtempSync(join(tmpdir(), "flyte-ts-tutorial-"));
const folder = join(workspace, "http-job");
const processes: ChildProcess[] = [];
let stack: RunningStack;
let user: StackClient;
beforeAll(async () => {
  mkdirSync(folder);
  writeFiles(page, folder);
  stack = await startStack(["--no-example"], isInstalled ? {} : SOON);
  user = connectToStack(stack);
});
afterAll(async () => {
  await Promise.all(processes.map(stop));
  await user.close();
  rmSync(workspace, { recursive: true, force: true });
});

test("the package installs, and its plugin passes the harness", { timeout: 400_000 }, () => {
  if (isInstalled) installPackages();
  else symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const report = run(...split(harness));
  expect(report).toMatch(/^. fail 0$/m);
  expect(Number(/^. pass (\d+)$/m.exec(report)?.[1])).toBeGreaterThanOrEqual(12);
});

test("a task of an unknown type waits with a reason, and runs within 5 s of the start of the plugin", { timeout: 300_000 }, async () => {
  const [, ...pyflyteArgs] = pyflyte.split(" ");
  runPython({ stack, folder }, "pyflyte", pyflyteArgs);
  await expectWaiting("first", "no plugin service serves task type [http-job]");
  // The page shows the words of a shell.
  const [, , ...args] = addPlugin.split(" ");
  execFileSync(process.execPath, [builtProgram(join(root, "packages/cli")), ...args.slice(0, 2), "--data", stack.folder, ...args.slice(2)]);
  start(startJobService.replace(/ &$/, ""));
  const spawnedAt = performance.now();
  const started = hasStarted(start(startPlugin));
  const [startedAt, servedAt] = await Promise.all([started, isServed("first")]);
  const served = Math.round(servedAt - startedAt);
  process.stdout.write(`tutorial: used ${served} ms after the plugin started, which took ${Math.round(startedAt - spawnedAt)} ms\n`);
  expect(served).toBeLessThan(SERVED_WITHIN_MS);
  const { closure } = await waitForEnd(user.client, id("first"), 60_000);
  expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("SUCCEEDED");
  const { fullOutputs } = await user.client.admin.getExecutionData({ id: id("first") });
  expect(JSON.stringify(fullOutputs?.literals)).toContain("HELLO");
});

test("tasks wait with a reason while the plugin is away, and run when it returns", { timeout: 300_000 }, async () => {
  await stop(processes.pop() as ChildProcess);
  const { spec } = await user.client.admin.getExecution({ id: id("first") });
  for (const name of ["second", "third"])
    await user.client.admin.createExecution({ ...id(name), spec: { launchPlan: spec!.launchPlan! }, inputs: {} });
  for (const name of ["second", "third"])
    await expectWaiting(name, "the plugin service for task type [http-job] has not sent a heartbeat since");
  start(startPlugin);
  for (const name of ["second", "third"]) {
    const { closure } = await waitForEnd(user.client, id(name), 60_000);
    expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("SUCCEEDED");
  }
});

const id = (name: string) => ({ project: "flytesnacks", domain: "development", name });

/** Runs the command of the page, with archives of this tree in place of published packages. */
function installPackages(): void {
  const [program = "", ...words] = install.split(" ");
  const own = words.filter((word) => word.startsWith("@flyte-ts/"));
  const { archives: packed } = packPublishedPackages(workspace);
  const archives = readdirSync(packed).map((file) => join(packed, file));
  for (const name of own) expect(archives.join()).toContain(`flyte-ts-${name.slice("@flyte-ts/".length)}-${PACKED_VERSION}.tgz`);
  run(program, [...words.filter((word) => !own.includes(word)), ...archives, "--prefer-offline", "--no-audit", "--no-fund"]);
}

function split(command: string): [string, readonly string[]] {
  const [program = "", ...args] = command.split(" ");
  return [program, args];
}

/** Runs a command in the reader's folder. Returns its output; throws with it on failure. */
function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { cwd: folder, encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "" } });
}

/** Starts a program of the page. npm would not pass a signal on, so its script runs by itself. */
function start(command: string): ChildProcess {
  const settings = join(stack.folder, "plugins", "plugin-http-job.yaml");
  const [, ...args] = command
    .replace("npm start --", "node src/main.ts")
    .replace(/\S+plugin-http-job\.yaml/, settings)
    .split(" ");
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  testWatchdog().watch(child, "SIGTERM");
  processes.push(child);
  return child;
}

/** Resolves to the time at which the service reports that it has started. */
function hasStarted({ stdout }: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    stdout?.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("plugin service started")) resolve(performance.now());
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await ended;
}

async function expectWaiting(name: string, reason: string): Promise<void> {
  const shown = async () => {
    const { closure } = await user.client.admin.getExecution({ id: id(name) });
    const error = closure?.outputResult.case === "error" ? closure.outputResult.value : undefined;
    return `${WorkflowExecution_Phase[closure?.phase ?? 0]}, ${error?.code}: ${error?.message}`;
  };
  await expect.poll(shown, { timeout: 120_000, interval: 250 }).toContain(`RUNNING, Waiting: node n0: ${reason}`);
}

/** Waits until the plugin has reported on the execution's task. Resolves to that time. */
async function isServed(name: string): Promise<number> {
  for (;;) {
    const { nodeExecutions } = await user.client.admin.listNodeExecutions({ workflowExecutionId: id(name), limit: 10 });
    for (const node of nodeExecutions) {
      const { taskExecutions } = await user.client.admin.listTaskExecutions({ nodeExecutionId: node.id!, limit: 1 });
      const reasons = taskExecutions.flatMap(({ closure }) => closure?.reasons.map(({ message }) => message) ?? []);
      if (
        reasons.some((message) => message.includes("runs")) ||
        taskExecutions.some(({ closure }) => closure?.phase === TaskExecution_Phase.SUCCEEDED)
      )
        return performance.now();
    }
    await sleep(20);
  }
}
