import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WARM_IDLE_EXIT_CODE, WARM_SUPERVISOR } from "./supervisor.js";

const python = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).stdout.trim();
const canRun = process.platform === "linux" && python !== "";
const ATTEMPT = ["FLYTE_ATTEMPT_NUMBER", "FLYTE_INTERNAL_EXECUTION_ID"];
const WAIT_SECONDS = 30;

/** Observations of a task's program about its process. */
const OBSERVE = `
def observe(kind):
    import __main__, gc, json, os, resource, signal, sys, tempfile, threading
    print(json.dumps({
        "kind": kind,
        "argv": sys.argv,
        "main": [__main__.__name__, __main__.__file__],
        "path": sys.path,
        "environment": {name: value for name, value in os.environ.items() if name not in ("_", "LC_CTYPE")},
        "directory": os.getcwd(),
        "umask": os.umask(os.umask(0)),
        "files": [number for number in os.listdir("/proc/self/fd") if int(number) < 100 and os.path.exists(f"/proc/self/fd/{number}")],
        "threads": threading.active_count(),
        "signals": [str(signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)],
        "limits": [resource.getrlimit(limit) for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)],
        "tempdir": tempfile.tempdir,
        "executable": sys.executable,
        "stdin": os.readlink("/proc/self/fd/0"),
    }), flush=True)
`;

const ENTRYPOINT = `
import os, sys, time
loaded_at, loaded_by = time.time(), os.getpid()
seen_id = os.environ.get("FLYTE_INTERNAL_EXECUTION_ID") is not None
${OBSERVE}
def execute_task_cmd():
    observe("execute")
    print("loaded", loaded_at, loaded_by, os.getpid(), seen_id, flush=True)
    exec(sys.argv[1], {"sys": sys, "os": os})
def fast_execute_task_cmd():
    import subprocess
    observe("fast")
    sys.stdout.flush()
    code, *command = sys.argv[1:]
    exec(code, {"os": os})
    env = os.environ.copy()
    env["PYTHONPATH"] = env["PYTHONPATH"] + os.pathsep + os.path.realpath("code") if "PYTHONPATH" in env else os.path.realpath("code")
    process = subprocess.Popen(command, env=env)
    exit(process.wait())
`;

describe.skipIf(!canRun)("the supervisor of a warm pod", { timeout: 60_000 }, () => {
  let folder: string;
  let environment: Record<string, string>;
  let started: ChildProcess[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-warm-"));
    started = [];
    for (const name of ["bin", "work/code", "lib/flytekit/bin"]) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "lib/flytekit/__init__.py"), "");
    writeFileSync(join(folder, "lib/flytekit/bin/__init__.py"), "");
    entrypoint(ENTRYPOINT);
    for (const [name, call] of [
      ["pyflyte-execute", "execute_task_cmd"],
      ["pyflyte-fast-execute", "fast_execute_task_cmd"],
    ] as const) {
      const script = join(folder, "bin", name);
      writeFileSync(
        script,
        `#!${python}\nimport sys\nfrom flytekit.bin.entrypoint import ${call}\nif __name__ == "__main__":\n    sys.exit(${call}())\n`,
      );
      chmodSync(script, 0o755);
    }
    environment = {
      PATH: `${folder}/bin:${process.env["PATH"]}`,
      PYTHONPATH: join(folder, "lib"),
      PYTHONDONTWRITEBYTECODE: "1",
      KEPT: "k",
    };
  });
  afterEach(() => {
    for (const child of started) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  const entrypoint = (text: string) => writeFileSync(join(folder, "lib/flytekit/bin/entrypoint.py"), text);
  const attempt = { FLYTE_ATTEMPT_NUMBER: "2", FLYTE_INTERNAL_EXECUTION_ID: "abc" };
  const cold = (command: readonly string[], env: Record<string, string> = attempt) => {
    const [program = "", ...args] = command;
    const result = spawnSync(join(folder, "bin", program), args, {
      cwd: join(folder, "work"),
      env: { ...environment, ...env },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return { out: result.stdout, err: result.stderr, code: result.status };
  };
  /** Starts a supervisor; `assign` gives it a command and resolves to its end. */
  const warm = (entry: string, waitSeconds = WAIT_SECONDS) => {
    const file = join(folder, "assignment");
    const args = ["-c", WARM_SUPERVISOR, entry, ATTEMPT.join(","), file, String(waitSeconds)];
    const child = spawn(python, args, { cwd: join(folder, "work"), env: environment, stdio: ["ignore", "pipe", "pipe"] });
    started.push(child);
    let [out, err] = ["", ""];
    child.stdout.on("data", (data) => (out += String(data)));
    child.stderr.on("data", (data) => (err += String(data)));
    const end = new Promise<{ out: string; err: string; code: number | null; pid: number }>((resolve) =>
      child.once("close", (code) => resolve({ out, err, code, pid: child.pid ?? 0 })),
    );
    const assign = (command: readonly string[], env: Record<string, string> = attempt) => {
      writeFileSync(`${file}.new`, JSON.stringify({ command, env }));
      spawnSync("mv", [`${file}.new`, file]);
      return end;
    };
    /** Resolves when flytekit is imported by this many processes. */
    const imported = async (processes: number) => {
      await expect.poll(() => importers().length, { timeout: 20_000, interval: 20 }).toBeGreaterThanOrEqual(processes);
    };
    return { child, assign, end, imported };
  };
  const importers = () => {
    const marks = join(folder, "imports");
    return existsSync(marks) ? readFileSync(marks, "utf8").split("\n").filter(Boolean) : [];
  };
  /** Lets each import leave its process id; the file is outside of the paths that are compared. */
  const countImports = () =>
    entrypoint(
      `${ENTRYPOINT}\nos.write(os.open(${JSON.stringify(join(folder, "imports"))}, os.O_WRONLY | os.O_CREAT | os.O_APPEND), f"{os.getpid()}\\n".encode())\n`,
    );
  const observations = (out: string) =>
    out
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const loaded = (out: string) => /^loaded (\S+) (\d+) (\d+) (\w+)$/m.exec(out)?.slice(1) ?? [];

  it("runs a command in its own interpreter, which shows what a new one shows", async () => {
    countImports();
    const command = ["pyflyte-execute", "pass", "--input", "a b"];
    const expected = cold(command);
    const { assign, imported, child } = warm("pyflyte-execute");
    await imported(2);
    const { out, code } = await assign(command);
    expect(code).toBe(0);
    expect(observations(out)).toEqual(observations(expected.out));
    expect(loaded(out).slice(1)).toEqual([String(child.pid), String(child.pid), "True"]);
    // The new interpreter's import, and one of the supervisor.
    expect(importers()).toHaveLength(2);
  });

  it("runs the second process of pyflyte-fast-execute in one that was started ahead", async () => {
    countImports();
    const command = ["pyflyte-fast-execute", "open('code/flow.py', 'w').close()", "pyflyte-execute", "import flow", "--x"];
    const expected = cold(command);
    const { assign, imported } = warm("pyflyte-fast-execute");
    await imported(4);
    const { out, code, pid } = await assign(command);
    expect([code, expected.code]).toEqual([0, 0]);
    expect(observations(out)).toEqual(observations(expected.out));
    const [, loadedBy, ranBy] = loaded(out);
    expect(loadedBy).toBe(ranBy);
    expect(loadedBy).not.toBe(String(pid));
    // Two imports of new processes, and two that were done ahead.
    expect(importers()).toHaveLength(4);
  });

  it("starts a new process when the attempt's code replaces a module that is loaded", async () => {
    const replace = "open('code/flytekit.py', 'w').close(); open('code/subprocess.py', 'w').close()";
    countImports();
    const { assign, imported } = warm("pyflyte-fast-execute");
    await imported(2);
    const { code } = await assign(["pyflyte-fast-execute", replace, "pyflyte-execute", "pass"]);
    expect(code).toBe(0);
    expect(importers()).toHaveLength(3);
  });

  it.each([
    ["a module stores a variable of the attempt", `${ENTRYPOINT}\nkept = [os.environ["FLYTE_INTERNAL_EXECUTION_ID"]]\n`],
    ["a module stores all variables", `${ENTRYPOINT}\nkept = dict(os.environ)\n`],
    ["a module cannot be imported with a placeholder", `import os\nint(os.environ["FLYTE_ATTEMPT_NUMBER"])\n${ENTRYPOINT}`],
  ])("starts a new interpreter when %s", async (_, text) => {
    entrypoint(text);
    const command = ["pyflyte-execute", "import flytekit.bin.entrypoint as e; print('kept', getattr(e, 'kept', None))"];
    const expected = cold(command);
    const { out, code } = await warm("pyflyte-execute").assign(command);
    expect(code).toBe(0);
    expect(observations(out)).toEqual(observations(expected.out));
    expect(out).not.toContain("placeholder");
  });

  it.each([
    ["other variables of the attempt", ["pyflyte-execute", "pass"], { FLYTE_ATTEMPT_NUMBER: "1" }],
    ["another entry point", ["pyflyte-fast-execute", "pass", "pyflyte-execute", "pass"], attempt],
  ])("starts a new interpreter for %s", async (_, command, env) => {
    const expected = cold(command, env);
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
    const expected = cold(command);
    const ended = await warm("pyflyte-execute").assign(command);
    expect(ended.code).toBe(expected.code);
    expect(ended.err).toBe(expected.err);
  });

  it("ends by a signal of its own as a new interpreter does", async () => {
    const { assign, child } = warm("pyflyte-execute");
    await assign(["pyflyte-execute", "os.kill(os.getpid(), 9)"]);
    expect(child.signalCode).toBe("SIGKILL");
  });

  it("says by its exit code that it ended without an attempt", async () => {
    expect((await warm("pyflyte-execute", 0.2).end).code).toBe(WARM_IDLE_EXIT_CODE);
    countImports();
    const stopped = warm("pyflyte-execute");
    await stopped.imported(1);
    stopped.child.kill("SIGTERM");
    expect((await stopped.end).code).toBe(WARM_IDLE_EXIT_CODE);
  });

  it("leaves no process when it ends", async () => {
    countImports();
    const { assign, imported } = warm("pyflyte-fast-execute");
    await imported(2);
    await assign(["pyflyte-fast-execute", "os._exit(0)"]);
    const isRunning = (pid: string) => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
    await expect.poll(() => importers().filter(isRunning), { timeout: 20_000 }).toEqual([]);
  });

  it("contains nothing that kubelets would expand", () => {
    expect(WARM_SUPERVISOR).not.toContain("$");
  });
});
