import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DASK_LAUNCHER } from "./dask-launcher.js";

/** Stands in for `python -m dask scheduler` and `… worker`: records its pid and runs. */
const FAKE_DASK = `import json, os, sys, time
role, state = sys.argv[1], os.environ["STATE"]
if os.environ.get("BROKEN") == role:
    sys.exit(7)
assert sys.argv[sys.argv.index("--host") + 1] == "127.0.0.1"
open(os.path.join(state, f"{role}-{os.getpid()}"), "w").close()
if role == "scheduler":
    with open(sys.argv[sys.argv.index("--scheduler-file") + 1], "w") as file:
        json.dump({"address": "tcp://127.0.0.1:1234"}, file)
else:
    assert sys.argv[2] == "tcp://127.0.0.1:1234"
time.sleep(600)
`;

/** A client that sees the workers that have started. */
const FAKE_DISTRIBUTED = `import os
class Client:
    def __init__(self, address, timeout): pass
    def __enter__(self): return self
    def __exit__(self, *error): pass
    def nthreads(self): return [name for name in os.listdir(os.environ["STATE"]) if name.startswith("worker")]
`;

/** Signals the launcher, where asked, before it knows that the command has started. */
const SIGNALLING = `import os, signal, subprocess, sys, time
start = subprocess.Popen.__init__
def started(self, args, *rest, **named):
    start(self, args, *rest, **named)
    if args[0] == "sh":
        while not os.path.exists(os.path.join(os.environ["STATE"], "command")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)
if os.environ.get("SIGNALLED"):
    subprocess.Popen.__init__ = started
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "dask-launcher-"));
  for (const [name, main] of [
    ["dask", "__main__.py"],
    ["distributed", "__init__.py"],
  ] as const) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, main), name === "dask" ? FAKE_DASK : FAKE_DISTRIBUTED);
  }
  writeFileSync(join(folder, "dask", "__init__.py"), "");
  writeFileSync(join(folder, "sitecustomize.py"), SIGNALLING);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Arguments and environment of python3, and the folder in which the processes leave their pids. */
function launch(command: readonly string[], variables: Record<string, string> = {}, workers = 2) {
  const state = mkdtempSync(join(folder, "state-"));
  const env = { ...process.env, PYTHONPATH: folder, STATE: state, ...variables };
  return { args: ["-c", DASK_LAUNCHER, String(workers), "1", "60", ...command], env, state };
}

function run(command: readonly string[], variables?: Record<string, string>, workers?: number) {
  const { args, env, state } = launch(command, variables, workers);
  return { ...spawnSync("python3", args, { env, cwd: folder, encoding: "utf8" }), state };
}

const LIST = `import os; print(os.environ["DASK_SCHEDULER_ADDRESS"], *sorted(os.listdir(os.environ["STATE"])))`;
const isAlive = (pid: string) => spawnSync("kill", ["-0", pid]).status === 0;

test("a command finds the scheduler and all workers, which end with it", () => {
  const { status, stdout, stderr } = run(["python3", "-c", LIST]);
  expect([status, stderr]).toEqual([0, ""]);
  const [address, ...processes] = stdout.trim().split(" ");
  expect(address).toBe("tcp://127.0.0.1:1234");
  expect(processes.map((name) => name.replace(/-\d+$/, ""))).toEqual(["scheduler", "worker", "worker"]);
  for (const name of processes) expect(isAlive(name.split("-")[1] ?? "")).toBe(false);
}, 120_000);

test("the launcher ends with the exit status of the command, and 128 more than its signal", () => {
  expect(run(["sh", "-c", "exit 3"]).status).toBe(3);
  expect(run(["sh", "-c", "kill -9 $$"]).status).toBe(137);
}, 120_000);

test("a scheduler or worker that cannot start fails the task", () => {
  for (const [role, name] of [
    ["scheduler", "scheduler"],
    ["worker", "worker 1"],
  ] as const) {
    // The error names the process that ends first, so only one may be broken.
    const { status, stderr, stdout } = run(["echo", "ran"], { BROKEN: role }, 1);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`the Dask ${name} ended with exit status 7`);
  }
}, 120_000);

test("without Dask the error names the command that installs it", () => {
  const bare = spawnSync("python3", ["-S", "-c", DASK_LAUNCHER, "1", "1", "1", "echo"], { cwd: "/", encoding: "utf8" });
  expect(bare.status).toBe(1);
  expect(bare.stderr).toContain("npx flyte-ts python install --extra dask");
}, 120_000);

test.each([
  ["while the command runs", "exec sleep 600", {}],
  ["as the command starts", "exec sleep 600", { SIGNALLED: "1" }],
  ["that the launcher gets twice", "trap 'kill -TERM $PPID' TERM; while :; do sleep 0.1; done", {}],
])(
  "a signal %s stops the command and the cluster",
  async (_, command, variables) => {
    const { args, env, state } = launch(["sh", "-c", `echo $$ > $STATE/command; ${command}`], variables);
    const child = spawn("python3", args, { env, cwd: folder, stdio: "ignore" });
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    await expect.poll(() => readdirSync(state), { timeout: 60_000 }).toContain("command");
    await expect.poll(() => readFileSync(join(state, "command"), "utf8"), { timeout: 10_000 }).not.toBe("");
    child.kill("SIGTERM");
    expect(await ended).toBe(143);
    const started = readdirSync(state).flatMap((name) => name.split("-")[1] ?? []);
    expect(started).toHaveLength(3);
    const pids = [readFileSync(join(state, "command"), "utf8").trim(), ...started];
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  },
  120_000,
);
