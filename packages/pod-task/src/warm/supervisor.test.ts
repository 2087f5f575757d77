import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WARM_IDLE_EXIT_CODE, WARM_SUPERVISOR } from "./supervisor.js";
import { attempt, canRunSupervisors, ENTRYPOINT, loaded, observations, python, ToyFlytekit } from "./toy-flytekit.fixture.js";

const ATTEMPT = Object.keys(attempt);
const WAIT_SECONDS = 30;

describe.skipIf(!canRunSupervisors)("the supervisor of a warm pod", { timeout: 60_000 }, () => {
  let toy: ToyFlytekit;
  let started: ChildProcess[];

  beforeEach(() => {
    toy = new ToyFlytekit();
    started = [];
  });
  afterEach(() => {
    for (const child of started) child.kill("SIGKILL");
    toy.remove();
  });

  /** Starts a supervisor; `assign` gives it a command and resolves to its end. */
  const warm = (entry: string, waitSeconds = WAIT_SECONDS) => {
    const file = join(toy.folder, "assignment");
    const args = ["-c", toy.confine(WARM_SUPERVISOR), entry, ATTEMPT.join(","), file, String(waitSeconds)];
    const child = spawn(python, args, { cwd: toy.directory, env: toy.environment, stdio: ["ignore", "pipe", "pipe"] });
    started.push(child);
    let [out, err] = ["", ""];
    child.stdout.on("data", (data) => (out += String(data)));
    child.stderr.on("data", (data) => (err += String(data)));
    const end = new Promise<{ out: string; err: string; code: number | null; pid: number }>((resolve) =>
      child.once("close", (code) => resolve({ out, err, code, pid: child.pid ?? 0 })),
    );
    const assign = (command: readonly string[], env: Readonly<Record<string, string>> = attempt) => {
      toy.replaceFile(file, JSON.stringify({ command, env }));
      return end;
    };
    /** Resolves when flytekit is imported by this many processes. */
    const imported = async (processes: number) => {
      await expect.poll(() => toy.importers().length, { timeout: 20_000, interval: 20 }).toBeGreaterThanOrEqual(processes);
    };
    return { child, assign, end, imported };
  };
  it("runs a command in its own interpreter, which shows what a new one shows", async () => {
    toy.countImports();
    const command = ["pyflyte-execute", "pass", "--input", "a b"];
    const expected = toy.runCold(command);
    const { assign, imported, child } = warm("pyflyte-execute");
    await imported(2);
    const { out, code } = await assign(command);
    expect(code).toBe(0);
    expect(observations(out)).toEqual(observations(expected.out));
    expect(loaded(out).slice(1)).toEqual([String(child.pid), String(child.pid), "True"]);
    // The new interpreter's import, and one of the supervisor.
    expect(toy.importers()).toHaveLength(2);
  });

  it("runs the second process of pyflyte-fast-execute in one that was started ahead", async () => {
    toy.countImports();
    const command = ["pyflyte-fast-execute", "open('code/flow.py', 'w').close()", "pyflyte-execute", "import flow", "--x"];
    const expected = toy.runCold(command);
    const { assign, imported } = warm("pyflyte-fast-execute");
    await imported(4);
    const { out, code, pid } = await assign(command);
    expect([code, expected.code]).toEqual([0, 0]);
    expect(observations(out)).toEqual(observations(expected.out));
    const [, loadedBy, ranBy] = loaded(out);
    expect(loadedBy).toBe(ranBy);
    expect(loadedBy).not.toBe(String(pid));
    // Two imports of new processes, and two that were done ahead.
    expect(toy.importers()).toHaveLength(4);
  });

  it("starts a new process when the attempt's code replaces a module that is loaded", async () => {
    const replace = "open('code/flytekit.py', 'w').close(); open('code/subprocess.py', 'w').close()";
    toy.countImports();
    const { assign, imported } = warm("pyflyte-fast-execute");
    await imported(2);
    const { code } = await assign(["pyflyte-fast-execute", replace, "pyflyte-execute", "pass"]);
    expect(code).toBe(0);
    expect(toy.importers()).toHaveLength(3);
  });

  it.each([
    ["a module stores a variable of the attempt", `${ENTRYPOINT}\nkept = [os.environ["FLYTE_INTERNAL_EXECUTION_ID"]]\n`],
    ["a module stores all variables", `${ENTRYPOINT}\nkept = dict(os.environ)\n`],
    ["a module cannot be imported with a placeholder", `import os\nint(os.environ["FLYTE_ATTEMPT_NUMBER"])\n${ENTRYPOINT}`],
  ])("starts a new interpreter when %s", async (_, text) => {
    toy.setEntrypoint(text);
    const command = ["pyflyte-execute", "import flytekit.bin.entrypoint as e; print('kept', getattr(e, 'kept', None))"];
    const expected = toy.runCold(command);
    const { out, code } = await warm("pyflyte-execute").assign(command);
    expect(code).toBe(0);
    expect(observations(out)).toEqual(observations(expected.out));
    expect(out).not.toContain("placeholder");
  });

  it.each([
    ["other variables of the attempt", ["pyflyte-execute", "pass"], { FLYTE_ATTEMPT_NUMBER: "1" }],
    ["another entry point", ["pyflyte-fast-execute", "pass", "pyflyte-execute", "pass"], attempt],
  ])("starts a new interpreter for %s", async (_, command, env) => {
    const expected = toy.runCold(command, env);
    const { out, code } = await warm("pyflyte-execute").assign(command, env);
    expect(code).toBe(0);
    expect(observations(out)).toEqual(observations(expected.out));
  });

  it.each([
    ["an exit code", "sys.exit(3)"],
    ["a message", "sys.exit('bad')"],
    ["an immediate exit", "os._exit(7)"],
    ["an error", "raise ValueError('no')"],
  ])("ends with %s as a new interpreter does", async (_, code) => {
    const command = ["pyflyte-execute", code];
    const expected = toy.runCold(command);
    const ended = await warm("pyflyte-execute").assign(command);
    expect(ended.code).toBe(expected.code);
    expect(ended.err).toBe(expected.err);
  });

  it("waits for threads and exit handlers, and completes open files, as a new interpreter does", async () => {
    const ending = [
      "import atexit, gzip, threading, time",
      "sys.text = open('open.txt', 'w'); sys.text.write('text')",
      "sys.zip = gzip.open('open.gz', 'wt'); sys.zip.write('zip')",
      "atexit.register(print, 'handler')",
      "threading.Thread(target=lambda: (time.sleep(0.2), print('thread'))).start()",
    ];
    const command = ["pyflyte-execute", ending.join("; ")];
    const lines = (out: string) => out.trim().split("\n").slice(-2);
    expect(lines(toy.runCold(command).out)).toEqual(["thread", "handler"]);
    for (const file of ["open.txt", "open.gz"]) rmSync(join(toy.directory, file));
    const { out, code } = await warm("pyflyte-execute").assign(command);
    expect(code).toBe(0);
    expect(lines(out)).toEqual(["thread", "handler"]);
    expect(readFileSync(join(toy.directory, "open.txt"), "utf8")).toBe("text");
    expect(gunzipSync(readFileSync(join(toy.directory, "open.gz"))).toString()).toBe("zip");
  });

  it("ends by a signal of its own as a new interpreter does", async () => {
    const { assign, child } = warm("pyflyte-execute");
    await assign(["pyflyte-execute", "os.kill(os.getpid(), 9)"]);
    expect(child.signalCode).toBe("SIGKILL");
  });

  it("says by its exit code that it ended without an attempt", async () => {
    expect((await warm("pyflyte-execute", 0.2).end).code).toBe(WARM_IDLE_EXIT_CODE);
    toy.countImports();
    const stopped = warm("pyflyte-execute");
    await stopped.imported(1);
    stopped.child.kill("SIGTERM");
    expect((await stopped.end).code).toBe(WARM_IDLE_EXIT_CODE);
  });

  it("leaves no process when it ends", async () => {
    toy.countImports();
    const { assign, imported } = warm("pyflyte-fast-execute");
    await imported(2);
    await assign(["pyflyte-fast-execute", "os._exit(0)"]);
    const isRunning = (pid: string) => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
    await expect.poll(() => toy.importers().filter(isRunning), { timeout: 20_000 }).toEqual([]);
  });

  it("contains nothing that kubelets would expand", () => {
    expect(WARM_SUPERVISOR).not.toContain("$");
  });
});
