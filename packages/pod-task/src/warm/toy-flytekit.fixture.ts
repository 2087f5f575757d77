import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const python = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).stdout.trim();
export const canRunSupervisors = process.platform === "linux" && python !== "";
/** Variables of an attempt, by name and value. */
export const attempt = { FLYTE_ATTEMPT_NUMBER: "2", FLYTE_INTERNAL_EXECUTION_ID: "abc" };

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

/** The toy's module with the entry points: it runs the Python text in its arguments. */
export const ENTRYPOINT = `
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
    # As flytekit unpacks the code.
    subprocess.run(["true"])
    exec(code, {"os": os})
    env = os.environ.copy()
    env["PYTHONPATH"] = env["PYTHONPATH"] + os.pathsep + os.path.realpath("code") if "PYTHONPATH" in env else os.path.realpath("code")
    process = subprocess.Popen(command, env=env)
    exit(process.wait())
`;

/** A folder with a package that starts as flytekit does, and its entry points. */
export class ToyFlytekit {
  readonly folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-warm-"));
  readonly directory = join(this.folder, "work");
  readonly environment: Readonly<Record<string, string>> = {
    PATH: `${this.folder}/bin:${process.env["PATH"]}`,
    PYTHONPATH: join(this.folder, "lib"),
    PYTHONDONTWRITEBYTECODE: "1",
    KEPT: "k",
  };

  constructor() {
    const { folder } = this;
    for (const name of ["bin", "work/code", "lib/flytekit/bin"]) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "lib/flytekit/__init__.py"), "");
    writeFileSync(join(folder, "lib/flytekit/bin/__init__.py"), "");
    this.setEntrypoint(ENTRYPOINT);
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
  }

  /** Adds a module to the path. */
  addModule(path: string, text: string): void {
    const file = join(this.folder, "lib", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  setEntrypoint(text: string): void {
    writeFileSync(join(this.folder, "lib/flytekit/bin/entrypoint.py"), text);
  }

  /** Lets each import leave its process id; the file is outside of the paths that are compared. */
  countImports(): void {
    const marks = JSON.stringify(join(this.folder, "imports"));
    this.setEntrypoint(
      `${ENTRYPOINT}\nos.write(os.open(${marks}, os.O_WRONLY | os.O_CREAT | os.O_APPEND), f"{os.getpid()}\\n".encode())\n`,
    );
  }

  /** Process ids of the imports so far. */
  importers(): string[] {
    const marks = join(this.folder, "imports");
    return existsSync(marks) ? readFileSync(marks, "utf8").split("\n").filter(Boolean) : [];
  }

  /** Runs a command in a new interpreter. */
  runCold(command: readonly string[], env: Readonly<Record<string, string>> = attempt) {
    const [program = "", ...args] = command;
    const result = spawnSync(join(this.folder, "bin", program), args, {
      cwd: this.directory,
      env: { ...this.environment, ...env },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return { out: result.stdout, err: result.stderr, code: result.status };
  }

  /** Gives a supervisor a termination log of its own; a machine has one, a container another. */
  confine(program: string): string {
    return program.replaceAll("/dev/termination-log", join(this.folder, "termination-log"));
  }

  /** Replaces a file at once, as kubelets do. */
  replaceFile(file: string, text: string): void {
    writeFileSync(`${file}.new`, text);
    spawnSync("mv", [`${file}.new`, file]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns the objects that `observe` printed, one per process. */
export function observations(out: string): Record<string, unknown>[] {
  return out
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The process that imported the module, and the process that ran the command. */
export function loaded(out: string): string[] {
  return /^loaded (\S+) (\d+) (\d+) (\w+)$/m.exec(out)?.slice(1) ?? [];
}
