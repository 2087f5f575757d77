import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ContainerProcess, type ProcessExit } from "../container/container-process.js";
import { treeMemory } from "../container/process-memory.js";
import { ProcessReaper } from "../container/process-reaper.js";
import { createRun, type RunDir } from "../container/run-dir.js";
import { NodeSpares } from "./node-spares.js";
import type { StartOrigin } from "./warm-start.js";

/** Entry point of TypeScript tasks as images have it. */
const BIN = fileURLToPath(new URL("../../../../../packages/sdk-runtime/bin", import.meta.url));
/** A bundle by hand: its tasks do what their names say. */
const ENTRY = `import { readdirSync, readFileSync, readlinkSync } from "node:fs";
const LOADED_AT_START = Object.keys(process.env);
export const format = 1;
const proc = (name) => readFileSync("/proc/self/" + name, "utf8");
const openFiles = () => readdirSync("/proc/self/fd").flatMap((fd) => {
  try { const link = readlinkSync("/proc/self/fd/" + fd); return /^(anon_inode|pipe)/.test(link) ? [] : [fd + " " + link]; }
  catch { return []; }
});
const stat = (pid) => readFileSync("/proc/" + pid + "/stat", "utf8").replace(/^.*\\) /s, "").split(" ");
const tasks = {
  report: ({ task, addresses, environment }) => console.log(JSON.stringify({
    same: {
      task, addresses, environment: { ...environment }, argv: process.argv, execArgv: process.execArgv, argv0: process.argv0,
      execPath: process.execPath, cwd: process.cwd(), umask: process.umask(), files: openFiles(), stdin: readFileSync(0, "utf8"),
      marks: proc("environ").split("\\0").filter((line) => /^FLYTE_TS_(POD_UID|CONTAINER)=/.test(line)).map((line) => line.trim()),
      leader: stat("self")[3] === String(process.ppid) && stat("self")[2] === String(process.ppid),
      tty: [process.stdout.isTTY, process.stderr.isTTY], globals: Object.getOwnPropertyNames(globalThis).toSorted(),
      limits: proc("limits"), nice: stat("self")[16], listeners: process.eventNames().map(String).toSorted(),
    },
    pid: process.pid, commandLine: proc("cmdline"), loadedAtStart: LOADED_AT_START,
  })),
  leave: () => { globalThis.left = "behind"; process.env.LEFT = "behind"; process.chdir("/"); },
  print: () => { console.log("to standard output"); console.error("to standard error"); },
  status: () => 3,
  exit: () => process.exit(7),
  fail: () => { setTimeout(() => { throw new Error("outside of the task"); }, 1); return new Promise(() => setTimeout(() => {}, 1000)); },
  killed: () => process.kill(process.pid, "SIGKILL"),
  terminated: () => { process.kill(process.pid, "SIGTERM"); return new Promise(() => setTimeout(() => {}, 1000)); },
  handle: () => new Promise((resolve) => {
    process.on("SIGTERM", () => { console.log("asked to end"); resolve(5); });
    setInterval(() => {}, 1000);
    console.log("waiting");
  }),
  ignore: () => new Promise(() => { process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("waiting"); }),
};
export const run = async (request) => (await tasks[request.task.name](request)) ?? 0;
`;

const folder = mkdtempSync(join(tmpdir(), "node-spares-"));
const cache = join(folder, "bundles");
const own = join(folder, "own");
const digest = "a".repeat(64);
const reaper = new ProcessReaper();
const logger = createLogger({ service: "test", level: "silent" });
let spares: NodeSpares;
let count = 0;

for (const name of [digest, "b".repeat(64)]) {
  mkdirSync(join(cache, name), { recursive: true });
  writeFileSync(join(cache, name, "entry.mjs"), ENTRY);
  writeFileSync(join(cache, name, "manifest.json"), JSON.stringify({ externals: [], tasks: [] }));
}
mkdirSync(own);

const startSpares = (options: { idleTimeoutMs?: number; maxSpares?: number } = {}) =>
  new NodeSpares({ folder: join(folder, "spares"), logger, idleTimeoutMs: 60_000, maxSpares: 2, ...options });

beforeEach(() => {
  spares = startSpares();
  return () => spares.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Start {
  readonly warm?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly digest?: string;
  readonly run?: RunDir;
}

interface Started {
  readonly process: ContainerProcess;
  readonly run: RunDir;
  readonly origins: readonly StartOrigin[];
  readonly ended: Promise<ProcessExit>;
}

function launch(task: string, start: Start = {}): Started {
  const { warm = true, environment = {}, run = createRun(join(folder, `run-${count++}`), 0) } = start;
  const { promise: ended, resolve, reject } = Promise.withResolvers<ProcessExit>();
  const origins: StartOrigin[] = [];
  const addresses = ["--inputs", "file:///in", "--output-prefix", `file://${own}/out`, "--raw-output-data-prefix", "file:///raw"];
  const code = ["--bundle", "file:///none", "--bundle-digest", start.digest ?? digest];
  const all = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: own, TMPDIR: own, FLYTE_TS_BUNDLE_CACHE: cache, ...environment };
  const launched = ContainerProcess.launch(
    {
      podUid: `uid-${run.path.split("-").at(-1)}`,
      container: "main",
      run,
      command: [join(BIN, "flyte-ts-execute"), ...addresses, ...code, "--", "task-module", "m", "task-name", task],
      environment: new Map(Object.entries(all)),
      directory: own,
    },
    {
      reaper,
      now: Date.now,
      onEnd: resolve,
      onFailure: reject,
      onStart: (origin) => void origins.push(origin),
      warmStarters: warm ? [spares] : [],
    },
  );
  return { process: launched, run, origins, ended };
}

const log = ({ run }: Started) => (existsSync(join(run.path, "log")) ? readFileSync(join(run.path, "log"), "utf8") : "");

interface Outcome {
  readonly origin: StartOrigin | undefined;
  readonly code: number;
  readonly log: string;
}

async function outcome(task: string, start: Start = {}): Promise<Outcome> {
  const started = launch(task, start);
  const { exitCode } = await started.ended;
  await started.process.allExited;
  return { origin: started.origins[0], code: exitCode, log: log(started) };
}

/** Runs a task until a spare became it: spares start with the first task. */
async function spareOutcome(task: string, start: Start = {}): Promise<Outcome> {
  let found: Outcome | undefined;
  await expect
    .poll(async () => (found = await outcome(task, start)).origin, { timeout: 60_000, message: "no spare became the task" })
    .toBe("spare");
  return found as Outcome;
}

interface Report {
  readonly same: Readonly<Record<string, unknown>>;
  readonly pid: number;
  readonly commandLine: string;
  readonly loadedAtStart: readonly string[];
}

const reportOf = ({ log: text }: Outcome): Report => JSON.parse(text.replaceAll(/run-\d+/g, "run").replaceAll(/uid-\d+/g, "uid")) as Report;

/** Processes of spares that wait. */
function waitingSpares(): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, "latin1").split("\0");
      return words[1] === join(BIN, "flyte-ts-execute") && words[3]?.startsWith(folder) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

describe("a spare equals a new process", { timeout: 120_000 }, () => {
  test("in its arguments, environment, files, limits and place", async () => {
    const environment = { ODD: "a=b\nc", EMPTY: "", FLYTE_INTERNAL_EXECUTION_ID: "x", _F_L_MIN_SIZE_MB: "10" };
    const cold = reportOf(await outcome("report", { warm: false, environment }));
    const warm = reportOf(await spareOutcome("report", { environment }));
    expect(warm.same).toEqual(cold.same);
    expect(warm.same["leader"]).toBe(true);
    expect(warm.commandLine.slice(0, 400)).toContain("--inputs\0file:///in");
  });

  test("in its log: both streams, in order, and nothing of its start", async () => {
    expect(await spareOutcome("print")).toMatchObject({ code: 0, log: "to standard output\nto standard error\n" });
  });

  test.each(["status", "exit", "fail", "killed", "terminated"])("in its exit: %s", async (task) => {
    const withoutStack = ({ code, log: text }: Outcome) => ({ code, first: text.split("\n").slice(0, 5) });
    const cold = withoutStack(await outcome(task, { warm: false }));
    expect(withoutStack(await spareOutcome(task))).toEqual(cold);
  });

  test("when it receives SIGTERM, and when it ignores it", async () => {
    await spareOutcome("print");
    const handling = launch("handle");
    await expect.poll(() => log(handling), { timeout: 20_000 }).toContain("waiting");
    handling.process.stop(30_000);
    expect((await handling.ended).exitCode).toBe(5);
    expect(log(handling)).toContain("asked to end");
    const ignoring = launch("ignore");
    await expect.poll(() => log(ignoring), { timeout: 20_000 }).toContain("waiting");
    ignoring.process.stop(100);
    expect((await ignoring.ended).exitCode).toBe(137);
  });

  test("in the memory that counts for its pod, and for who looks for its pod's processes", async () => {
    await spareOutcome("print");
    const started = launch("ignore");
    await expect.poll(() => log(started), { timeout: 20_000 }).toContain("waiting");
    // The kernel's list of a process's children is not exact while others end.
    await expect.poll(() => treeMemory(started.process.pid ?? 0, true)).toBeGreaterThan(4 << 20);
    await reaper.killAll({ podUid: `uid-${started.run.path.split("-").at(-1)}`, container: undefined, session: undefined });
    expect((await started.ended).exitCode).toBe(137);
  });
});

describe("each spare is one task", { timeout: 120_000 }, () => {
  test("and sees nothing of others", async () => {
    const first = reportOf(await spareOutcome("report", { environment: { FLYTE_SECRET: "of the first" } }));
    await spareOutcome("leave");
    const second = reportOf(await spareOutcome("report"));
    expect(second.pid).not.toBe(first.pid);
    expect(JSON.stringify(second.same)).not.toMatch(/of the first|behind|"left"/);
    // Variables of one pod are not there while a spare loads.
    expect(first.loadedAtStart).not.toContain("FLYTE_SECRET");
  });

  test("a spare that was killed while it waited is replaced by a new process", async () => {
    spares.close();
    spares = startSpares({ maxSpares: 1 });
    await spareOutcome("print");
    await expect.poll(waitingSpares, { timeout: 20_000 }).toHaveLength(1);
    for (const pid of waitingSpares()) process.kill(pid, "SIGKILL");
    expect(await outcome("status")).toMatchObject({ code: 3 });
    expect((await spareOutcome("status")).code).toBe(3);
  });

  test("a run that another runner has claimed does not start again", async () => {
    await spareOutcome("print");
    const run = createRun(join(folder, `run-${count++}`), 0);
    writeFileSync(join(run.path, "pid"), readFileSync("/proc/self/stat", "utf8"));
    writeFileSync(join(run.path, "exit"), "9\n");
    expect(await outcome("print", { run })).toEqual({ origin: undefined, code: 9, log: "" });
  });

  test("pods with other variables or another bundle get their own", async () => {
    await spareOutcome("print");
    expect((await outcome("print", { environment: { NODE_OPTIONS: "--stack-trace-limit=5" } })).origin).toBe("new");
    expect((await spareOutcome("print", { environment: { NODE_OPTIONS: "--stack-trace-limit=5" } })).code).toBe(0);
    expect((await spareOutcome("status", { digest: "b".repeat(64) })).code).toBe(3);
  });
});

describe("spares end", { timeout: 120_000 }, () => {
  test("with the pool, apart from running tasks", async () => {
    await spareOutcome("print");
    const running = launch("handle");
    await expect.poll(() => log(running), { timeout: 20_000 }).toContain("waiting");
    await expect.poll(() => waitingSpares().length, { timeout: 20_000 }).toBeGreaterThan(0);
    spares.close();
    await expect.poll(waitingSpares, { timeout: 20_000 }).toEqual([]);
    running.process.stop(30_000);
    expect((await running.ended).exitCode).toBe(5);
    await expect.poll(() => readdirSync(join(folder, "spares")), { timeout: 20_000 }).toEqual([]);
  });

  test("when no task started for a while, and never exceed their number", async () => {
    spares.close();
    spares = startSpares({ idleTimeoutMs: 3_000, maxSpares: 2 });
    await spareOutcome("print");
    await expect.poll(() => waitingSpares().length, { timeout: 20_000 }).toBe(2);
    await expect.poll(waitingSpares, { timeout: 20_000 }).toEqual([]);
  });
});
