import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testWatchdog } from "@flyte-ts/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LAZY_PYTHON, processesOf } from "../stack/stack-fixture.js";
import { root } from "../repository.js";

let folder: string;
let started: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-start-"));
});
afterEach(async () => {
  if (started?.pid !== undefined && started.exitCode === null && started.signalCode === null) {
    process.kill(-started.pid, "SIGKILL");
    await new Promise((ended) => started?.once("close", ended));
  }
  // Wait until the watchdog has stopped the remaining processes.
  await vi.waitUntil(() => processesOf(folder).length === 0, { timeout: 60_000 });
  rmSync(folder, { recursive: true, force: true });
});

interface StartedCommand {
  readonly npm: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | string | null>;
}

/**
 * Runs an npm command, optionally below another command, in its own process group, as a service
 * manager, a container or a terminal does.
 */
function npm(args: readonly string[], environment = LAZY_PYTHON, wrapper: readonly string[] = []): StartedCommand {
  const [command = "npm", ...all] = [...wrapper, "npm", ...args];
  const child = spawn(command, all, {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    // Turbo's build daemon must not keep this test's pipes open.
    env: { ...process.env, TURBO_NO_UPDATE_NOTIFIER: "1", ...environment },
  });
  started = child;
  testWatchdog().watch(child, "SIGTERM");
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | string | null>((done) => child.once("exit", (code, signal) => done(signal ?? code)));
  return { npm: child, output: () => text, ended };
}

/** A stack that stops in order deletes its folder last. */
const EXIT_TIMEOUT = { timeout: 60_000 };
const stack = (data: string) => ["start", "--", "--no-example", "--data", data, "--port", "0", "--blobPort", "0"];
const said = async ({ output }: StartedCommand, what: RegExp) => {
  await expect.poll(output, { timeout: 100_000 }).toMatch(what);
};

/**
 * Leaves files of a killed stack: the id of another live process, and a lock that a power failure
 * has emptied.
 */
function writeStaleProcessIds(): void {
  for (const name of ["stack.pid", "guard.pid"]) writeFileSync(join(folder, name), `${process.pid}\n0:0\n`);
  mkdirSync(join(folder, "cluster"));
  writeFileSync(join(folder, "cluster", "lock"), "");
}

test.each([
  { signal: "SIGTERM", title: "", prepare: () => undefined },
  { signal: "SIGINT", title: " in a folder with stale process ids of a killed stack", prepare: writeStaleProcessIds },
] as const)("$signal to `npm start`$title stops the stack, and npm exits after it", async ({ signal, prepare }) => {
  prepare();
  const run = npm(stack(folder), {});
  await said(run, /^ready$/m);
  expect(readFileSync(join(folder, "stack.pid"), "utf8")).not.toMatch(new RegExp(`^${process.pid}\n`));
  run.npm.kill(signal);
  expect(await run.ended).toBe(0);
  expect(readdirSync(folder)).not.toContain("stack.pid");
  // The Python fork server exits by itself when the cluster's end of its pipe is closed.
  await expect.poll(() => processesOf(folder), EXIT_TIMEOUT).toEqual([]);
});

test.each(["SIGHUP", "SIGKILL"] as const)("a stack stops when its npm dies of %s", async (signal) => {
  const run = npm(stack(folder));
  await said(run, /^ready$/m);
  run.npm.kill(signal);
  expect(await run.ended).toBe(signal);
  await expect.poll(() => readdirSync(folder), EXIT_TIMEOUT).not.toContain("stack.pid");
});

test("a signal to the whole process group, as from a closed terminal or systemd, stops the stack in order", async () => {
  const run = npm(stack(folder));
  await said(run, /^ready$/m);
  process.kill(-(run.npm.pid as number), "SIGTERM");
  expect(await run.ended).toBe(0);
  await expect.poll(() => readdirSync(folder), EXIT_TIMEOUT).not.toContain("stack.pid");
});

/**
 * Creating a process namespace needs root, and permissions that some containers withhold from root.
 */
const namespaces = spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0;

test.runIf(namespaces)("SIGTERM to `npm start` as process 1 of a container stops the stack", async () => {
  const run = npm(stack(folder), LAZY_PYTHON, ["unshare", "--pid", "--fork", "--mount-proc"]);
  await said(run, /^ready$/m);
  const [first] = readFileSync(`/proc/${run.npm.pid}/task/${run.npm.pid}/children`, "utf8").trim().split(" ");
  process.kill(Number(first), "SIGTERM");
  expect(await run.ended).toBe(0);
  expect(readdirSync(folder)).not.toContain("stack.pid");
});

test("a stack whose launcher is killed stops in order", async () => {
  const run = npm(stack(folder));
  await said(run, /^ready$/m);
  const launcher = processesOf(folder).find(({ command }) => command.includes("scripts/start.mjs"));
  process.kill((launcher as { pid: number }).pid, "SIGKILL");
  await expect.poll(() => readdirSync(folder), EXIT_TIMEOUT).not.toContain("stack.pid");
});

test("a stack whose output is closed, as by `| head -1`, runs until it is stopped", async () => {
  const run = npm(stack(folder));
  await said(run, /npm|flyte-ts|start/);
  run.npm.stdout?.destroy();
  await expect.poll(() => existsSync(join(folder, "logs", "admin.log")), { timeout: 100_000 }).toBe(true);
  run.npm.kill("SIGTERM");
  expect([0, 130]).toContain(await run.ended);
  expect(run.output()).not.toMatch(/EPIPE/);
  await expect.poll(() => processesOf(folder), EXIT_TIMEOUT).toEqual([]);
});

test("an npm that dies of a closed output before its script begins leaves nothing running", async () => {
  const run = npm(stack(folder));
  run.npm.stdout?.destroy();
  expect(await run.ended).toBe(1);
  await expect.poll(() => processesOf(folder), EXIT_TIMEOUT).toEqual([]);
  expect(run.output()).not.toMatch(/^\s+at /m);
});

test("SIGTERM to `npx flyte-ts start` stops the stack", async () => {
  const run = npm(["exec", "--", "flyte-ts", ...stack(folder).filter((word) => word !== "--")]);
  await said(run, /^ready$/m);
  run.npm.kill("SIGTERM");
  await expect.poll(() => readdirSync(folder), EXIT_TIMEOUT).not.toContain("stack.pid");
});

test("SIGTERM stops a start that hangs", async () => {
  // Another live process holds the lock of the Python environment.
  const cache = join(folder, "cache");
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "python3"), '#!/bin/sh\n[ "$1" = -c ] && echo python-version=3.12 && exit 0\nexec sleep 600\n', { mode: 0o755 });
  const data = join(folder, "data");
  const run = npm(stack(data), { FLYTE_TS_CACHE: cache, PATH: `${bin}:${process.env.PATH}` });
  await said(run, /creating a Python 3\.12 environment/);
  run.npm.kill("SIGTERM");
  expect(await run.ended).toBe(130);
  expect(readdirSync(data)).not.toContain("stack.pid");
});

test.each([
  ["two listeners with one port", ["--port", "4000", "--blobPort", "4000"], /^flyte-ts: .*blobPort: 4000 is the port of --port too/m],
  [
    "a data folder that is a file",
    ["--data", join(root, "package.json")],
    /^flyte-ts: the data folder .*package\.json cannot be used: it is a file/m,
  ],
])("%s is reported in one line with an exit code", async (_, args, line) => {
  const run = npm(["start", "--", "--no-example", "--port", "0", "--blobPort", "0", "--data", folder, ...args]);
  expect(await run.ended).toBe(1);
  expect(run.output()).toMatch(line);
  expect(run.output()).not.toMatch(/^\s+at /m);
});
