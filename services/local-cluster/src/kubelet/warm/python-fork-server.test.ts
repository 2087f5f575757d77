import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { processStat } from "../../process-stat.js";
import { makeEntryPoints } from "./entry-points.fixture.js";
import { ContainerProcess, type ProcessExit } from "../container/container-process.js";
import { ProcessReaper } from "../container/process-reaper.js";
import { createRun, type RunDir } from "../container/run-dir.js";
import { PythonForkServerPool } from "./python-fork-server.js";

const program = fileURLToPath(new URL("../../../python/fork_server.py", import.meta.url));

/** File of packages that Python runs when it starts; a distribution may have a sitecustomize. */
const AT_START = "at-start.pth";
/** Reports everything that a program can observe about its start. */
const ENTRY_POINT = `
import asyncio, dataclasses, gc, importlib.util, io, json, locale, os, pathlib, random, resource, signal, site, sys, sysconfig, tempfile, threading, types, warnings


def proc(name):
    with open("/proc/self/" + name, "rb") as file:
        return file.read().decode()

def links():
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[name] = os.readlink("/proc/self/fd/" + name)
        except FileNotFoundError:
            pass
    return found

def report():
    main = sys.modules["__main__"]
    umask = os.umask(0)
    os.umask(umask)
    return {
        "argv": sys.argv, "orig_argv": sys.orig_argv, "path": sys.path, "executable": sys.executable, "prefix": sys.prefix,
        "flags": repr(sys.flags), "warnoptions": sys.warnoptions, "meta_path": [repr(finder) for finder in sys.meta_path],
        "environ": dict(os.environ), "proc_environ": sorted(proc("environ").split("\\0")), "cmdline": proc("cmdline"), "comm": proc("comm"),
        "cwd": os.getcwd(), "umask": umask, "files": links(), "stdin": sys.stdin.read(), "nice": os.nice(0),
        "main": sorted(key for key in vars(main) if not key.startswith("_") or key.startswith("__")), "main_file": main.__file__,
        "main_spec": repr(main.__spec__), "main_loader": type(main.__loader__).__name__, "main_name": __name__,
        "signals": {int(s): repr(signal.getsignal(s)) .split(" at ")[0] for s in signal.valid_signals()},
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "wakeup": signal.set_wakeup_fd(-1),
        "limits": [resource.getrlimit(limit) for limit in range(16)], "threads": [thread.name for thread in threading.enumerate()],
        "out": [type(sys.stdout.buffer).__name__, sys.stdout.line_buffering, sys.stdout.encoding, sys.stdout.errors, sys.stdout.isatty()],
        "error": [sys.stderr.line_buffering, sys.stderr.encoding, sys.stderr.errors], "locale": locale.setlocale(locale.LC_ALL),
        "hooks": [sys.excepthook is sys.__excepthook__, threading.excepthook is threading.__excepthook__, repr(sys.gettrace())],
        "temporary": [tempfile.gettempdir(), tempfile.tempdir], "home": os.path.expanduser("~"), "site": [site.USER_BASE, site.USER_SITE],
        "userbase": sysconfig.get_config_var("userbase"), "recursion": sys.getrecursionlimit(), "gc": [gc.isenabled(), gc.get_threshold()],
        "leader": os.getsid(0) == os.getppid() == os.getpgid(0), "filters": [repr(one) for one in warnings.filters],
        "stray": sorted({name for name in sys.modules if name.split(".")[0] in ("fork_server", "speculative_import", "botocore_models")}), "settings": SETTINGS,
        "kept": [repr(one) for one in (KEPT, KEPT["path"].parts, KEPT["slots"].folder, Settings(), vars(Settings)["folder"], settled())],
        "made": [os.path.isdir(MADE), oct(os.stat(MADE).st_mode)], "loop": loop_works(), "lazy": repr(object.__getattribute__(LAZY, "__class__")), "attempt": "set" if ATTEMPT else ATTEMPT,
        "functions": [os.stat.__name__, os.stat in os.supports_fd, type(os.stat).__name__, type(open).__name__],
    }

# What flytekit does as it is imported.
if os.path.exists("crash") and os.path.basename(sys.orig_argv[1]) == "pyflyte-fast-execute" and not hasattr(sys, "is_first"):
    os._exit(1)
LOADED_BY = os.path.basename(sys.orig_argv[1])
SETTINGS = open("flytekit.config").read() if os.path.exists("flytekit.config") else None
HOME_SETTINGS = open(os.path.expanduser("~/.kit")).read() if os.path.exists(os.path.expanduser("~/.kit")) else None
MADE = os.path.join(tempfile.gettempdir(), "kit", "made", "")
os.makedirs(MADE, exist_ok=True)
os.chmod(MADE, 0o710)

class Slots:
    __slots__ = ("folder", "unset")
    def __repr__(self):
        return self.folder

@dataclasses.dataclass(frozen=True)
class Settings:
    folder: str = MADE
    more: tuple = (MADE, "plain")

def settled(folder=MADE, *, more=(1, MADE)):
    return folder, more

KEPT = {"text": MADE + "x", "list": ["plain", MADE], "path": pathlib.Path(MADE, "sub"), "slots": Slots(), "home": os.path.expanduser("~/.other")}
KEPT["slots"].folder = MADE
KEPT["object"] = types.SimpleNamespace(folder=MADE)
str(KEPT["path"])
try:
    from optional_part import PART
except ImportError:
    PART = None
ATTEMPT = os.environ.get("FLYTE_INTERNAL_EXECUTION_ID")
LEVEL = os.environ.get("FLYTE_SDK_LOGGING_LEVEL", "none")
# A variable that pyflyte-fast-execute has got from this import: its second process is a new one unless it had it before.
if LEVEL == "none" and HOME_SETTINGS is None:
    os.environ["SET_BY_KIT"] = "yes"
signal.signal(signal.SIGINT, lambda *_: print("interrupted"))
LOOP = asyncio.new_event_loop()

def lazily(name):
    spec = importlib.util.find_spec(name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]

LAZY = lazily("lazily_loaded")

def loop_works():
    return LOOP.run_until_complete(asyncio.sleep(0, "yes"))
`;
const EXECUTE = `import random
from flytekit.bin.entrypoint import LOADED_BY, report
if __name__ == "__main__":
    import json, os, sys
    if sys.argv[1:2] == ["exec"]:
        exec(sys.argv[2])
    elif sys.argv[1:2] == ["report"]:
        print(json.dumps({"same": report(), "parent": os.readlink(f"/proc/{os.getppid()}/exe"), "random": random.random(), "loadedBy": LOADED_BY}))
`;
/**
 * Simulates fast registration without a download; optionally changes settings in the working
 * directory after flytekit has read them.
 */
const FAST = `import os, subprocess, sys, time
sys.is_first = True
import flytekit.bin.entrypoint
folder, *command = sys.argv[1:]
if os.path.exists(folder + "/settings"):
    time.sleep(0.3)
    os.rename(folder + "/settings", "flytekit.config")
env = os.environ.copy()
env["PYTHONPATH"] = os.path.realpath(folder)
sys.stdout.flush()
sys.exit(subprocess.Popen(command, env=env).wait())
`;

const folder = mkdtempSync(join(tmpdir(), "fork-server-"));
const bin = join(folder, "venv", "bin");
const reaper = new ProcessReaper();
const logger = createLogger({ service: "test", level: "silent" });
let packages: string;
let pool: PythonForkServerPool;
let count = 0;

beforeAll(async () => {
  packages = makeEntryPoints(folder, { "pyflyte-execute": EXECUTE, "pyflyte-fast-execute": FAST, other: EXECUTE }).packages;
  mkdirSync(join(packages, "flytekit", "bin"), { recursive: true });
  writeFileSync(join(packages, "flytekit", "bin", "entrypoint.py"), ENTRY_POINT);
  writeFileSync(join(packages, "lazily_loaded.py"), "value = 1");
  // Creates the directory of byte code, so that later starts change nothing.
  await outcome(["pyflyte-execute"], { forked: false });
});
function startPool({
  idleTimeoutMs = 60_000,
  modules = [],
}: {
  idleTimeoutMs?: number;
  modules?: readonly string[];
} = {}): PythonForkServerPool {
  return new PythonForkServerPool({ program, logFile: join(folder, "fork-server.log"), logger, idleTimeoutMs, maxServers: 2, modules });
}

beforeEach(() => {
  pool = startPool();
  return () => pool.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly process: ContainerProcess;
  readonly run: RunDir;
  readonly ended: Promise<ProcessExit>;
}

interface Start {
  readonly forked?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly run?: RunDir;
}

function launch(
  command: readonly string[],
  { forked = true, environment = {}, run = createRun(join(folder, `run-${count++}`), 0) }: Start = {},
): Run {
  const { promise: ended, resolve, reject } = Promise.withResolvers<ProcessExit>();
  const own = join(folder, "own");
  mkdirSync(own, { recursive: true });
  const all = { PATH: `${bin}:${process.env["PATH"] ?? ""}`, HOME: own, TMPDIR: own, FLYTE_INTERNAL_EXECUTION_ID: "e", ...environment };
  const [name = "", ...words] = command;
  const launched = ContainerProcess.launch(
    {
      podUid: `uid-${run.path}`,
      container: "main",
      run,
      command: [join(bin, name), ...words],
      environment: new Map(Object.entries(all)),
      directory: own,
    },
    { reaper, now: Date.now, onEnd: resolve, onFailure: reject, warmStarters: forked ? [pool] : [] },
  );
  return { process: launched, run, ended };
}

const log = ({ run }: Run) => readFileSync(join(run.path, "log"), "utf8");

/** Returns exit code and log of a command, started by a fork or as a new process. */
async function outcome(command: readonly string[], start: Start = {}): Promise<{ code: number; log: string }> {
  const one = launch(command, start);
  const { exitCode } = await one.ended;
  await one.process.allExited;
  // Run directories differ.
  return { code: exitCode, log: log(one).replaceAll(one.run.path, "RUN") };
}

interface Report {
  readonly same: Record<string, unknown>;
  readonly parent: string;
  readonly random: number;
  /** Entry point in the command line of the process that imported flytekit. */
  readonly loadedBy: string;
}

async function report(start: Start = {}, command: readonly string[] = ["pyflyte-execute", "report", "--an", "", "ä b"]): Promise<Report> {
  const { log: text } = await outcome(command, start);
  return JSON.parse(text) as Report;
}

/**
 * Selects what must be equal: run directories differ, and a Python that set its own locale passes
 * it to children by flags.
 */
function seen({ same }: Report): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(same)
      .replaceAll(/run-\d+/g, "run")
      .replaceAll(/socket:\[\d+\]/g, "socket")
      .replaceAll(/utf8_mode=\d/g, ""),
  ) as Record<string, unknown>;
}

const isForked = ({ parent }: Report) => /python/.test(parent);

describe("a forked process equals a new one", () => {
  test("in its arguments, environment and modules", async () => {
    const environment = { ODD: "a=b\nc", PYTHONPATH: join(folder, "code"), EMPTY: "" };
    // The forked and the new process use the same directory, one after the other, so that reported
    // paths are equal.
    const spawned = await report({ forked: false, environment });
    const forked = await report({ environment });
    expect([isForked(spawned), isForked(forked)]).toEqual([false, true]);
    expect(seen(forked)).toEqual(seen(spawned));
    expect(forked.random).not.toBe(spawned.random);
  });

  test.each([
    ["an exit status", "sys.exit(3)"],
    ["an exit with a text", "sys.exit('so')"],
    ["the end", "print('done')"],
    ["an exit without cleaning up", "print('lost'); os._exit(7)"],
    ["an exception", "print('before'); {}['missing']"],
    ["an exception with a cause", "raise ValueError('ü') from OSError()"],
    ["functions registered with atexit", "import atexit; atexit.register(print, 'bye'); 1/0"],
    ["an open file", "sys.kept = os.fdopen(os.dup(1), 'w'); sys.kept.write('kept')"],
    [
      "an open file beside one without a buffer",
      "sys.other = os.fdopen(os.dup(1), 'w'); sys.other.detach(); sys.kept = os.fdopen(os.dup(1), 'w'); sys.kept.write('kept')",
    ],
    ["a running thread", "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()"],
    ["SIGTERM", "import signal; os.kill(os.getpid(), signal.SIGTERM)"],
    ["SIGKILL", "import signal; os.kill(os.getpid(), signal.SIGKILL)"],
    ["SIGUSR1", "import signal; os.kill(os.getpid(), signal.SIGUSR1)"],
    ["a broken pipe", "r, w = os.pipe(); os.close(r); os.write(w, b'x')"],
  ])("in its exit: %s", async (_, script) => {
    const [forked, spawned] = [
      await outcome(["pyflyte-execute", "exec", script]),
      await outcome(["pyflyte-execute", "exec", script], { forked: false }),
    ];
    expect(forked).toEqual(spawned);
  });

  test("for the second entry point, with the fetched code on its path", async () => {
    const code = join(folder, "fetched");
    mkdirSync(code, { recursive: true });
    writeFileSync(join(code, "mine.py"), "");
    const command = ["pyflyte-fast-execute", code, "pyflyte-execute", "report", "x"];
    const [spawned, forked] = [await report({ forked: false }, command), await report({}, command)];
    expect(seen(forked)).toEqual(seen(spawned));
    expect(forked.same["path"]).toContain(code);
    // The fork server imports flytekit, before it knows of a container.
    expect([forked.loadedBy, spawned.loadedBy]).toEqual(["fork_server.py", "pyflyte-execute"]);
  });

  test.each([
    ["a variable that flytekit reads at import", { FLYTE_SDK_LOGGING_LEVEL: "10" }, undefined, "pyflyte-fast-execute"],
    ["settings in the home folder", {}, ".kit", "pyflyte-fast-execute"],
    ["a module on the path that replaces one", { PYTHONPATH: "SHADOW" }, undefined, "pyflyte-execute"],
  ])("with %s, for which flytekit is imported after the fork", async (_, variables, file, loader) => {
    // The server takes variables like these from its first request.
    await report();
    const home = mkdtempSync(join(folder, "home-"));
    if (file !== undefined) writeFileSync(join(home, file), "text");
    const shadow = mkdtempSync(join(folder, "shadow-"));
    writeFileSync(join(shadow, "optional_part.py"), "PART = 1");
    const environment = {
      ...JSON.parse(JSON.stringify(variables).replace("SHADOW", shadow)),
      HOME: home,
      TMPDIR: mkdtempSync(join(folder, "tmp-")),
    };
    const code = mkdtempSync(join(folder, "fetched-"));
    const read = `import sys; from flytekit.bin.entrypoint import HOME_SETTINGS, LEVEL, LOADED_BY, PART; print(HOME_SETTINGS, LEVEL, LOADED_BY, PART)`;
    // The first such container starts a new process, others soon after it are forks.
    const reports = [await report({ environment }), await report({ environment })];
    expect(reports.map((each) => [isForked(each), each.loadedBy])).toEqual([
      [false, "pyflyte-execute"],
      [true, "pyflyte-execute"],
    ]);
    expect(seen(reports[1] as Report)).toEqual(seen(await report({ environment, forked: false })));
    const outcomes = await Promise.all([true, false].map((forked) => outcome(["pyflyte-execute", "exec", read], { forked, environment })));
    expect(outcomes[0]).toEqual(outcomes[1]);
    // Where flytekit is imported before the code is known, another process does so.
    const [second, first] = [await report({ environment }, ["pyflyte-fast-execute", code, "pyflyte-execute", "report"]), await report()];
    expect([second.loadedBy, first.loadedBy]).toEqual([loader, "fork_server.py"]);
  });

  test("when flytekit stores a variable where it cannot be replaced, and is imported after the fork", async () => {
    const entry = join(packages, "flytekit", "bin", "entrypoint.py");
    const before = readFileSync(entry, "utf8");
    try {
      writeFileSync(entry, `${before}\nHIDDEN = {MADE}`);
      for (const modules of [[], ["lazily_loaded"]]) {
        pool.close();
        pool = startPool({ modules });
        const forked = await report();
        expect([isForked(forked), forked.loadedBy]).toEqual([true, "pyflyte-execute"]);
      }
      const lines = readFileSync(join(folder, "fork-server.log"), "utf8").split("\n");
      const reasons = lines.filter((line) => line.includes("stores a placeholder in an unsupported place"));
      expect(reasons.map((line) => /^(.+) not preloaded/.exec(line)?.[1])).toEqual(Array(2).fill("flytekit and additional modules are"));
    } finally {
      writeFileSync(entry, before);
    }
  });

  test("in the folders that flytekit creates, each in those of its container", async () => {
    const script = "import os; from flytekit.bin.entrypoint import MADE; print(MADE, oct(os.stat(MADE).st_mode))";
    const folders = [mkdtempSync(join(folder, "tmp-")), mkdtempSync(join(folder, "tmp-"))];
    const forked = await Promise.all(folders.map((TMPDIR) => outcome(["pyflyte-execute", "exec", script], { environment: { TMPDIR } })));
    expect(forked.map(({ log: text }) => text)).toEqual(folders.map((path) => `${path}/kit/made/ 0o40710\n`));
  });
});

/** Imitates the loader of botocore, which counts the files that it reads. */
const LOADERS = `import json, os
READ = []
class JSONFileLoader:
    def load_file(self, path):
        if os.path.exists(path + ".json"):
            READ.append(path)
            with open(path + ".json") as file:
                return json.load(file)
class Loader:
    BUILTIN_DATA_PATH = os.path.join(os.path.dirname(__file__), "data")
    CUSTOMER_DATA_PATH = os.path.join(os.path.expanduser("~"), ".aws", "models")
    def __init__(self):
        self._cache = {}
        self.search_paths = [self.CUSTOMER_DATA_PATH, self.BUILTIN_DATA_PATH]
    def load_data(self, name):
        if name not in self._cache:
            found = (JSONFileLoader().load_file(os.path.join(folder, name)) for folder in self.search_paths)
            self._cache[name] = next((data for data in found if data is not None), None)
        return self._cache[name]
    def load_service_model(self, service, kind, api_version=None):
        return self.load_data(f"{service}/2006-03-01/{kind}")
`;
const SESSION = `from botocore import loaders
def create_loader(search_path_string=None):
    return loaders.Loader()
`;

describe("models of the blob store's client", () => {
  // Prints what two sessions read, and how many files each of them opened.
  const read = `import botocore.loaders as b, botocore.session as s, json
def session():
    del b.READ[:]
    loader = s.create_loader()
    return [loader.load_service_model("s3", "service-2"), loader.load_data("endpoints"), len(b.READ)]
print(json.dumps([session(), session(), s.create_loader.__name__, b.JSONFileLoader.load_file.__name__]))`;
  const file = (name: string) => join(packages, "botocore", "data", `${name}.json`);
  const seenBy = async (start: Start = {}) => JSON.parse((await outcome(["pyflyte-execute", "exec", read], start)).log) as unknown;
  const functions = ["create_loader", "load_file"];

  beforeEach(() => {
    mkdirSync(join(packages, "botocore", "data", "s3", "2006-03-01"), { recursive: true });
    writeFileSync(join(packages, "botocore", "loaders.py"), LOADERS);
    writeFileSync(join(packages, "botocore", "session.py"), SESSION);
    writeFileSync(file("s3/2006-03-01/service-2"), "[1]");
    writeFileSync(file("endpoints"), "[2]");
    return () => rmSync(join(packages, "botocore"), { recursive: true });
  });

  test("are preloaded, used by the first session, and loaded again after a change", async () => {
    expect(await seenBy()).toEqual([[[1], [2], 0], [[1], [2], 2], ...functions]);
    // The text has the same length, so only the file's times reveal the change.
    writeFileSync(file("endpoints"), "[3]");
    expect(await seenBy()).toEqual([[[1], [3], 2], [[1], [3], 2], ...functions]);
    await expect.poll(() => seenBy()).toEqual([[[1], [3], 0], [[1], [3], 2], ...functions]);
  });

  test("are read by the process itself when the user has models of their own", async () => {
    const home = join(folder, "home-with-models");
    mkdirSync(join(home, ".aws", "models"), { recursive: true });
    writeFileSync(join(home, ".aws", "models", "endpoints.json"), "[4]");
    expect(await seenBy({ environment: { HOME: home } })).toEqual([[[1], [4], 2], [[1], [4], 2], ...functions]);
  });

  test("do not prevent forks when their preload fails", async () => {
    writeFileSync(join(packages, "botocore", "session.py"), 'raise ValueError("broken release")');
    expect(isForked(await report())).toBe(true);
  });
});

describe("a new process is started instead of a fork", () => {
  test("when the fetched code has a module that would replace a loaded one", async () => {
    const code = join(folder, "shadowing");
    mkdirSync(code, { recursive: true });
    writeFileSync(join(code, "tarfile.py"), "MINE = True");
    const script = "import tarfile; print(getattr(tarfile, 'MINE', False))";
    expect(await outcome(["pyflyte-fast-execute", code, "pyflyte-execute", "exec", script])).toEqual({ code: 0, log: "True\n" });
  });

  test("when the fetched code contains settings that preloaded modules have searched for", async () => {
    const code = join(folder, "with-settings");
    mkdirSync(code, { recursive: true });
    const settings = join(code, "settings");
    writeFileSync(settings, "mine");
    try {
      const { same, loadedBy } = await report({}, ["pyflyte-fast-execute", code, "pyflyte-execute", "report"]);
      expect([same["settings"], loadedBy]).toEqual(["mine", "pyflyte-execute"]);
    } finally {
      rmSync(join(folder, "own", "flytekit.config"), { force: true });
    }
  });

  test("when the preload of flytekit ends the process", async () => {
    const crash = join(folder, "own", "crash");
    writeFileSync(crash, "");
    try {
      const { loadedBy } = await report({}, ["pyflyte-fast-execute", join(folder, "own"), "pyflyte-execute", "report"]);
      expect(loadedBy).toBe("pyflyte-execute");
    } finally {
      rmSync(crash);
    }
  });

  test("when a loaded module has changed since", async () => {
    expect(isForked(await report())).toBe(true);
    utimesSync(packages, new Date(), new Date(0));
    expect(isForked(await report())).toBe(false);
    // A server with the current packages replaces the ended one.
    await expect.poll(async () => isForked(await report())).toBe(true);
  });

  test("when the Python to be forked has a second thread", async () => {
    const site = join(packages, AT_START);
    writeFileSync(site, "import threading, time; threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n");
    try {
      expect([isForked(await report()), isForked(await report())]).toEqual([false, false]);
    } finally {
      rmSync(site);
    }
  });

  test("when the Python ends during its preload, which is retried once", async () => {
    const site = join(packages, AT_START);
    const tries = join(folder, "tries");
    writeFileSync(
      site,
      `import os, sys; "fork_server.py" in str(sys.orig_argv) and (open(${JSON.stringify(tries)}, "a").write("x"), os._exit(3))\n`,
    );
    try {
      expect([isForked(await report()), isForked(await report())]).toEqual([false, false]);
      expect(readFileSync(tries, "utf8")).toBe("x");
    } finally {
      rmSync(site);
    }
  });

  test("for other commands and a missing interpreter", async () => {
    expect(isForked(await report({}, ["other", "report"]))).toBe(false);
    expect(pool.start({ run: folder, command: ["sh"], environment: {}, directory: folder })).toBeUndefined();
  });

  test("when the Python dies before it answers", async () => {
    const started = Array.from({ length: 5 }, () => launch(["pyflyte-execute", "exec", "print('ran')"]));
    await delay(20);
    killPythons();
    for (const one of started) {
      expect((await one.ended).exitCode).toBe(0);
      expect(log(one)).toBe("ran\n");
    }
  });
});

/** Kills the fork servers of this test file. */
function killPythons(): void {
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      if (words[0] === join(bin, "python") && words[1]?.endsWith("/fork_server.py") === true) process.kill(Number(name), "SIGKILL");
    } catch {
      // The process has exited.
    }
  }
}

test("forked processes survive the fork server, and their exit is reported", async () => {
  const go = join(folder, "go");
  const one = launch([
    "pyflyte-execute",
    "exec",
    `import time\nprint('in', flush=True)\nwhile not os.path.exists(${JSON.stringify(go)}): time.sleep(0.01)\nsys.exit(9)`,
  ]);
  while (!existsSync(join(one.run.path, "log")) || log(one) !== "in\n") await delay(10);
  killPythons();
  expect((await outcome(["pyflyte-execute", "exec", "print('next')"])).log).toBe("next\n");
  writeFileSync(go, "");
  expect((await one.ended).exitCode).toBe(9);
});

test("concurrent forks have separate environments", async () => {
  const script =
    "import json; print(os.environ['FLYTE_NUMBER'], getattr(json, 'left', None), os.environ.get('LEFT')); json.left = 1; os.environ['LEFT'] = '1'";
  const all = Array.from({ length: 24 }, (_, i) => outcome(["pyflyte-execute", "exec", script], { environment: { FLYTE_NUMBER: `${i}` } }));
  expect((await Promise.all(all)).map(({ log: text }) => text)).toEqual(all.map((_, i) => `${i} None None\n`));
});

test("a command can be stopped at any moment of its start", async () => {
  await outcome(["pyflyte-execute", "exec", ""]);
  const codes: number[] = [];
  for (let i = 0; i < 40; i++) {
    const one = launch(["pyflyte-execute", "exec", "import time; time.sleep(600)"]);
    await delay(i / 2);
    one.process.stop(20_000);
    codes.push((await one.ended).exitCode);
    await one.process.allExited;
  }
  expect(codes).toEqual(codes.map(() => 143));
}, 30_000);

test("a run is claimed once: a second start attaches to the first", async () => {
  const mark = join(folder, "once");
  const script = `import time\nopen(${JSON.stringify(mark)}, 'a').write('ran ')\ntime.sleep(0.3)\nsys.exit(7)`;
  const first = launch(["pyflyte-execute", "exec", script]);
  const again = launch(["pyflyte-execute", "exec", script], { run: first.run });
  const spawned = launch(["pyflyte-execute", "exec", script], { run: first.run, forked: false });
  expect([(await first.ended).exitCode, (await again.ended).exitCode, (await spawned.ended).exitCode]).toEqual([7, 7, 7]);
  expect(readFileSync(mark, "utf8")).toBe("ran ");
});

test("a process that left its session is found by its environment", async () => {
  const file = join(folder, "stray");
  const script = `import time
if os.fork() == 0:
    os.setsid()
    open(${JSON.stringify(file)}, 'w').write(str(os.getpid()))
    time.sleep(600)
while not os.path.exists(${JSON.stringify(file)}): time.sleep(0.01)`;
  await outcome(["pyflyte-execute", "exec", script]);
  // Zombies wait for their current parent.
  expect(processStat(Number(readFileSync(file, "utf8")))?.state ?? "Z").toBe("Z");
});

/** Prints the pid of the fork server, the runner's parent. */
const PRINT_SERVER_PID = "print(open(f'/proc/{os.getppid()}/stat').read().split()[3])";

test("variables read by C code get a separate fork server", async () => {
  const forked = async (environment: Readonly<Record<string, string>>) =>
    (await outcome(["pyflyte-execute", "exec", PRINT_SERVER_PID], { environment })).log;
  const usual = await forked({});
  expect(await forked({ OMP_NUM_THREADS: "1" })).not.toBe(usual);
  expect(await forked({ FLYTE_INTERNAL_NAME: "x" })).toBe(usual);
});

/** Contents of preloaded packages, by name. */
const AHEAD: Readonly<Record<string, string>> = {
  "lighter/__init__.py": "import os\nos.environ.setdefault('LIGHTER', '1')\nhome = os.path.expanduser('~')",
  "heavy/__init__.py": "import warnings, lighter\nfrom heavy import inner\nwarnings.filterwarnings('ignore', 'of heavy')\nvalue = 5",
  "heavy/inner.py": "class Made: pass",
  "heavy/part.py": "import heavy",
  "numpy/__init__.py": "",
  "numpy/random/__init__.py": "",
  "numpy/random/mtrand.py": "import os\ndef seed():\n    global state\n    state = os.urandom(8)\nseed()",
  "broken.py": "import lighter\nraise RuntimeError('broken')",
  "slow.py": "import time\ntime.sleep(0.3)",
  "endless.py": "import time\ntime.sleep(600)",
  "threaded.py": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
};

const SHOW_AHEAD = `
import importlib.util, json, random, warnings
seen = []
def look():
    known = sorted(name for name in sys.modules if name.split(".")[0] in ("lighter", "heavy", "numpy", "broken"))
    filters = [one[1].pattern for one in warnings.filters if hasattr(one[1], "pattern")]
    heavy = sys.modules.get("heavy")
    seen.append([known, os.environ.get("LIGHTER"), filters, "heavy" in sys.modules and sorted(name for name in vars(heavy) if name[0] != "_")])
look()
spec = importlib.util.find_spec("heavy")
seen.append([spec.origin, spec.submodule_search_locations])
look()
spec.loader = importlib.util.LazyLoader(spec.loader)
lazy = importlib.util.module_from_spec(spec)
sys.modules["heavy"] = lazy
spec.loader.exec_module(lazy)
seen.append(type(lazy).__name__)
seen.append([lazy.value, type(lazy).__name__, sys.modules["heavy"] is lazy])
look()
from heavy import part
look()
seen.append([part.heavy is lazy, type(lazy.__spec__.loader).__name__, type(part.__loader__).__name__, lazy.inner.Made.__module__])
import lighter
seen.append(lighter.home)
try:
    import broken
except RuntimeError as error:
    seen.append(str(error))
import numpy.random.mtrand
look()
forked = type(sys.meta_path[0]).__name__ == "HiddenModules"
print(json.dumps({"seen": seen, "forked": forked, "random": [random.random(), numpy.random.mtrand.state.hex()]}))
`;

describe("preloaded modules", () => {
  beforeEach(() => {
    for (const [name, text] of Object.entries(AHEAD)) {
      mkdirSync(dirname(join(packages, name)), { recursive: true });
      writeFileSync(join(packages, name), text);
    }
    rmSync(join(folder, "fork-server.log"), { force: true });
    return () => {
      for (const name of Object.keys(AHEAD)) rmSync(join(packages, name.split("/")[0] ?? ""), { recursive: true, force: true });
    };
  });

  interface Shown {
    readonly seen: unknown;
    readonly forked: boolean;
    readonly random: readonly [number, string];
  }

  async function shown(start: Start = {}): Promise<Shown> {
    const { log: text } = await outcome(["pyflyte-execute", "exec", SHOW_AHEAD], start);
    return JSON.parse(text) as Shown;
  }

  async function grown(): Promise<Shown> {
    for (;;) {
      const one = await shown();
      if (one.forked) return one;
      await delay(50);
    }
  }

  test("appear in sys.modules only after their import", async () => {
    pool.close();
    pool = startPool({ modules: ["numpy.random.mtrand", "lighter", "broken", "not.there", "heavy", "heavy.part"] });
    const spawned = await shown({ forked: false });
    const [first, second] = [await grown(), await shown()];
    expect([first.seen, second.seen]).toEqual([spawned.seen, spawned.seen]);
    expect([spawned.forked, second.forked]).toEqual([false, true]);
    // Random numbers of forks differ.
    for (const which of [0, 1] as const) expect(new Set([spawned, first, second].map(({ random }) => random[which])).size).toBe(3);
    const [old, forked] = [await report({ forked: false }), await report()];
    expect([isForked(old), isForked(forked)]).toEqual([false, true]);
    // A server with preloaded modules adds a finder that hides them, so `meta_path` differs.
    expect({ ...seen(forked), meta_path: [] }).toEqual({ ...seen(old), meta_path: [] });
    // Preloaded modules do not replace modules of the fetched code.
    const code = join(folder, "shadowing-ahead");
    mkdirSync(code, { recursive: true });
    writeFileSync(join(code, "heavy.py"), "value = 'mine'");
    const script = "import heavy; print(heavy.value)";
    expect((await outcome(["pyflyte-fast-execute", code, "pyflyte-execute", "exec", script])).log).toBe("mine\n");
    // The successor exits when the first process is killed.
    killPythons();
    expect((await shown()).seen).toEqual(spawned.seen);
  }, 60_000);

  test("are waited for by the first request, unless they take long", async () => {
    const isFirstForked = async (module: string): Promise<boolean> => {
      pool.close();
      pool = startPool({ modules: ["lighter", "heavy", module] });
      return (await shown()).forked;
    };
    expect([await isFirstForked("slow"), await isFirstForked("endless")]).toEqual([true, false]);
    expect(isForked(await report())).toBe(true);
  }, 60_000);

  test("are not preloaded when one of them leaves a running thread", async () => {
    pool.close();
    pool = startPool({ modules: ["threaded"] });
    expect(isForked(await report())).toBe(true);
    while (!readFileSync(join(folder, "fork-server.log"), "utf8").includes("additional modules are not preloaded")) await delay(50);
    expect(isForked(await report())).toBe(true);
    expect((await shown()).forked).toBe(false);
  }, 60_000);
});

test("a fork server can start in advance", async () => {
  const environment = { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
  pool.startEagerly({ command: ["pyflyte-execute"], environment, directory: "/" });
  const before = readdirSync("/proc/self/task").flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, "utf8").split(" "));
  const server = (await outcome(["pyflyte-execute", "exec", PRINT_SERVER_PID])).log.trim();
  // The process that has imported flytekit is a child of the first one.
  const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${server}/stat`, "utf8"))?.[1];
  expect(before).toContain(parent);
});

test("an idle fork server exits and is replaced on demand", async () => {
  pool.close();
  pool = startPool({ idleTimeoutMs: 50 });
  const first = await outcome(["pyflyte-execute", "exec", PRINT_SERVER_PID]);
  for (let i = 0; i < 200 && existsSync(`/proc/${first.log.trim()}`); i++) await delay(25);
  expect(existsSync(`/proc/${first.log.trim()}`)).toBe(false);
  const second = await outcome(["pyflyte-execute", "exec", PRINT_SERVER_PID]);
  expect(second.log).not.toBe(first.log);
});
