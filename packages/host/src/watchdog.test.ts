import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import { isWatchdog } from "./watchdog.js";

const folder = mkdtempSync(join(tmpdir(), "watchdog-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OBEDIENT = "exec sleep 600";
const DEAF = 'trap "" TERM; while :; do sleep 0.1; done';

// A process with a child for each given script, and one that has ended.
const PARENT = `
import { spawn } from "node:child_process";
import { startWatchdog } from ${JSON.stringify(new URL("watchdog.ts", import.meta.url).pathname)};
const watchdog = startWatchdog();
const child = (script) => {
  const child = spawn("sh", ["-c", script], { detached: true, stdio: "ignore" });
  watchdog.watch(child);
  return child.pid;
};
child("exit 0");
const pids = process.argv.slice(2).map(child);
console.log(JSON.stringify({ pids, watchdog: watchdog.pid }));
setInterval(() => undefined, 1000);
`;

interface Family {
  readonly parent: ChildProcess;
  readonly pids: readonly number[];
  readonly watchdog: number;
}

async function family(...scripts: readonly string[]): Promise<Family> {
  const program = join(folder, "parent.mjs");
  writeFileSync(program, PARENT);
  const parent = spawn(process.execPath, [program, ...scripts], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: parent.stdout })) return { parent, ...JSON.parse(line) };
  throw new Error("the parent ended");
}

interface State {
  readonly parent: number;
}

/** Undefined for a process that has exited, also for a zombie. */
function stateOf(pid: number): State | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return state === "Z" ? undefined : { parent: Number(parent) };
  } catch {
    return undefined;
  }
}

/** Live children of the process. */
function children(parent: number): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => stateOf(pid)?.parent === parent);
}

function isAlive(pid: number): boolean {
  return stateOf(pid) !== undefined;
}

const areGone = async (pids: readonly number[]) => {
  await expect.poll(() => pids.filter((pid) => isAlive(pid)), { timeout: 30_000, interval: 50 }).toEqual([]);
};

test.each([
  { signal: "SIGKILL", scripts: [OBEDIENT, DEAF] },
  { signal: "SIGTERM", scripts: [OBEDIENT] },
  { signal: "SIGHUP", scripts: [OBEDIENT] },
] as const)("children end with their parent when it dies by $signal", async ({ signal, scripts }) => {
  const { parent, pids, watchdog } = await family(...scripts);
  expect([...pids, watchdog].every((pid) => isAlive(pid))).toBe(true);
  parent.kill(signal);
  await areGone([...pids, watchdog]);
});

test("a killed watchdog is replaced by one with the same children", async () => {
  const { parent, pids, watchdog } = await family(OBEDIENT);
  process.kill(watchdog, "SIGKILL");
  await areGone([watchdog]);
  expect(pids.every((pid) => isAlive(pid))).toBe(true);
  // Its parent starts the next one after noticing the end; the arguments hold its initial state.
  await expect.poll(() => children(parent.pid as number).filter(isWatchdog), { timeout: 30_000 }).toHaveLength(1);
  parent.kill("SIGKILL");
  await areGone(pids);
});
