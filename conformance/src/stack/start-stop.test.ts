import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { testWatchdog } from "@flyte-ts/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { processesOf } from "./stack-fixture.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

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
  // Not before the guard has ended what is left.
  await vi.waitUntil(() => processesOf(folder).length === 0, { timeout: 60_000 });
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  readonly npm: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | string | null>;
}

/** Runs an npm command, below another command if one is given, in a process group of its own, as a service manager, a container or a terminal does. */
function npm(words: readonly string[], environment: Readonly<Record<string, string>> = {}, below: readonly string[] = []): Started {
  const [command = "npm", ...all] = [...below, "npm", ...words];
  const child = spawn(command, all, {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    // Turbo of the build holds nothing of this test open.
    env: { ...process.env, TURBO_NO_UPDATE_NOTIFIER: "1", ...environment },
  });
  started = child;
  testWatchdog().watch(child, "SIGTERM");
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | string | null>((done) => child.once("exit", (code, signal) => done(signal ?? code)));
  return { npm: child, output: () => text, ended };
}

/** A stack that ends in order gives its folder back last. */
const IN_ORDER = { timeout: 60_000 };
const stack = (data: string) => ["start", "--", "--no-example", "--data", data, "--port", "0", "--blobPort", "0"];
const said = async ({ output }: Started, what: RegExp) => {
  await expect.poll(output, { timeout: 100_000 }).toMatch(what);
};

test.each(["SIGTERM", "SIGINT"] as const)("%s to `npm start` ends the stack, and npm after it", async (signal) => {
  const run = npm(stack(folder));
  await said(run, /^ready$/m);
  run.npm.kill(signal);
  expect(await run.ended).toBe(0);
  expect(readdirSync(folder)).not.toContain("stack.pid");
  // The Python that attends to pods ends by itself when the cluster's end of its pipe is gone.
  await expect.poll(() => processesOf(folder), IN_ORDER).toEqual([]);
});

test.each(["SIGHUP", "SIGKILL"] as const)("a stack whose npm dies of %s ends", async (signal) => {
  const run = npm(stack(folder));
  await said(run, /^ready$/m);
  run.npm.kill(signal);
  expect(await run.ended).toBe(signal);
  await expect.poll(() => readdirSync(folder), IN_ORDER).not.toContain("stack.pid");
});

test("a signal to the whole process group, as of a closed terminal or a unit of systemd, ends the stack in order", async () => {
  const run = npm(stack(folder));
  await said(run, /^ready$/m);
  process.kill(-(run.npm.pid as number), "SIGTERM");
  expect(await run.ended).toBe(0);
  await expect.poll(() => readdirSync(folder), IN_ORDER).not.toContain("stack.pid");
});

/** Making a namespace of processes takes root, and rights that some containers do not give even to root. */
const namespaces = spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0;

test.runIf(namespaces)("SIGTERM to `npm start` as process 1 of a container ends the stack", async () => {
  const run = npm(stack(folder), {}, ["unshare", "--pid", "--fork", "--mount-proc"]);
  await said(run, /^ready$/m);
  const [first] = readFileSync(`/proc/${run.npm.pid}/task/${run.npm.pid}/children`, "utf8").trim().split(" ");
  process.kill(Number(first), "SIGTERM");
  expect(await run.ended).toBe(0);
  expect(readdirSync(folder)).not.toContain("stack.pid");
});

test("a stack whose launcher is killed ends in order", async () => {
  const run = npm(stack(folder));
  await said(run, /^ready$/m);
  const launcher = processesOf(folder).find(({ command }) => command.includes("scripts/start.mjs"));
  process.kill((launcher as { pid: number }).pid, "SIGKILL");
  await expect.poll(() => readdirSync(folder), IN_ORDER).not.toContain("stack.pid");
});

test("a stack whose output is read no more, as with `| head -1`, goes on until it is told to end", async () => {
  const run = npm(stack(folder));
  await said(run, /npm|flyte-ts|start/);
  run.npm.stdout?.destroy();
  await expect.poll(() => existsSync(join(folder, "logs", "admin.log")), { timeout: 100_000 }).toBe(true);
  run.npm.kill("SIGTERM");
  expect([0, 130]).toContain(await run.ended);
  expect(run.output()).not.toMatch(/EPIPE/);
  await expect.poll(() => processesOf(folder), IN_ORDER).toEqual([]);
});

test("an npm that dies before its script has begun, of an output that is closed, leaves nothing behind", async () => {
  const run = npm(stack(folder));
  run.npm.stdout?.destroy();
  expect(await run.ended).toBe(1);
  await expect.poll(() => processesOf(folder), IN_ORDER).toEqual([]);
  expect(run.output()).not.toMatch(/^\s+at /m);
});

test("SIGTERM to `npx flyte-ts start` ends the stack", async () => {
  const run = npm(["exec", "--", "flyte-ts", ...stack(folder).filter((word) => word !== "--")]);
  await said(run, /^ready$/m);
  run.npm.kill("SIGTERM");
  await expect.poll(() => readdirSync(folder), IN_ORDER).not.toContain("stack.pid");
});

test("SIGTERM ends a start that hangs", async () => {
  // Another process, which lives, holds the lock of the Python environment.
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

test("what a killed stack has left, with process ids that other processes have now, does not keep the next from starting", async () => {
  for (const name of ["stack.pid", "guard.pid"]) writeFileSync(join(folder, name), `${process.pid}\n0:0\n`);
  mkdirSync(join(folder, "cluster"));
  writeFileSync(join(folder, "cluster", "lock"), `${process.pid} 1`);
  const run = npm(stack(folder));
  await said(run, /^ready$/m);
  expect(readFileSync(join(folder, "stack.pid"), "utf8")).not.toMatch(new RegExp(`^${process.pid}\n`));
  run.npm.kill("SIGTERM");
  expect(await run.ended).toBe(0);
});

test.each([
  ["two listeners with one port", ["--port", "4000", "--blobPort", "4000"], /^flyte-ts: .*blobPort: 4000 is the port of --port too/m],
  [
    "a data folder that is a file",
    ["--data", join(root, "package.json")],
    /^flyte-ts: the data folder .*package\.json cannot be used: it is a file/m,
  ],
])("%s: one line and an exit status", async (_, words, line) => {
  const run = npm(["start", "--", "--no-example", "--port", "0", "--blobPort", "0", "--data", folder, ...words]);
  expect(await run.ended).toBe(1);
  expect(run.output()).toMatch(line);
  expect(run.output()).not.toMatch(/^\s+at /m);
});
