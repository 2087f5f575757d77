import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { canRunSupervisors, ToyFlytekit } from "../toy-flytekit.fixture.js";
import { HIDDEN_MODULES } from "./hidden-modules.js";
import { type End, type SupervisorProcess, SupervisorProcesses, TIMEOUT } from "./supervisor-process.fixture.js";

/** A module that tells which process has loaded it. */
const SLOW = "import os\nloaded_by = os.getpid()\n";

describe.skipIf(!canRunSupervisors)("modules that a supervisor loads ahead", { timeout: 60_000 }, () => {
  let toy: ToyFlytekit;
  let processes: SupervisorProcesses;
  let packages: string;
  let takes: number;

  beforeEach(() => {
    toy = new ToyFlytekit();
    processes = new SupervisorProcesses(toy);
    packages = join(toy.folder, "site-packages");
    mkdirSync(packages);
    takes = 0;
  });
  afterEach(() => {
    processes.stop();
    toy.remove();
  });

  const install = (name: string, text: string) => writeFileSync(join(packages, `${name}.py`), text);
  const start = (entry = "pyflyte-execute") =>
    processes.start(entry, { most: 1_000, variables: { PYTHONPATH: `${join(toy.folder, "lib")}:${packages}` } });
  /** Runs an attempt, and lets the supervisor wait for the next. */
  const run = async (pod: SupervisorProcess, code: string, entry = "pyflyte-execute") => {
    const command = entry === "pyflyte-execute" ? [entry, code] : [entry, "pass", "pyflyte-execute", code];
    const end = await pod.run(`t${takes++}`, command);
    pod.acknowledge();
    return end;
  };
  /** Waits until the process with the modules is ready. */
  const preloaded = async ({ child: { pid } }: SupervisorProcess) => {
    const names = () =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
        .split(" ")
        .filter(Boolean)
        .map((id) => readFileSync(`/proc/${id}/comm`, "utf8").trim());
    await expect.poll(names, TIMEOUT).toEqual(["preloaded"]);
  };
  /** Runs an attempt in a fork of that process. */
  const runAhead = async (pod: SupervisorProcess) => {
    await preloaded(pod);
    const end = await run(pod, LOOK);
    expect(end.out).toMatch(/ahead False$/);
    return end;
  };
  const runUntil = async (pod: SupervisorProcess, code: string, wanted: (end: End & { out: string }) => boolean) => {
    let end: (End & { out: string }) | undefined;
    await expect.poll(async () => wanted((end = await run(pod, code))), { ...TIMEOUT, interval: 500 }).toBe(true);
    return end;
  };
  /** Tells which process has loaded the module, and whether it was seen before its import. */
  const LOOK = "seen = 'slow' in sys.modules; import slow; print('own' if slow.loaded_by == os.getpid() else 'ahead', seen)";
  const isAhead = ({ out }: { out: string }) => out.endsWith("ahead False");

  it("are those that an attempt imported from the image, without what these import and without its own", async () => {
    install("slow", `${SLOW}import below, json`);
    install("below", "");
    writeFileSync(join(toy.directory, "mine.py"), "import slow");
    const code = "sys.path.insert(0, os.getcwd()); import mine, csv; print('done')";
    const end = await run(start(), code);
    expect([end.out.split("\n").at(-1), end.imports]).toEqual(["done", ["slow"]]);
  });

  it("are loaded in a process from which attempts are forked, and hidden until these import them", async () => {
    install("slow", SLOW);
    const pod = start();
    expect((await run(pod, LOOK)).out).toMatch(/own False$/);
    pod.preload(["slow"]);
    const end = await runAhead(pod);
    expect([end.imports, end.refused, end.code, end.retires]).toEqual([undefined, undefined, 0, null]);
    const { out } = await run(pod, "print('parent', os.getppid(), len(os.listdir('/proc/self/task')))");
    expect(out.split("\n").at(-1)).toBe(`parent ${pod.child.pid} 1`);
  });

  it("serve the second process of pyflyte-fast-execute as well", async () => {
    install("slow", SLOW);
    const pod = start("pyflyte-fast-execute");
    expect((await run(pod, LOOK, "pyflyte-fast-execute")).imports).toEqual(["slow"]);
    pod.preload(["slow"]);
    await preloaded(pod);
    expect(isAhead(await run(pod, LOOK, "pyflyte-fast-execute"))).toBe(true);
  });

  it("leave no attempt waiting: the load stops until it has ended", async () => {
    const [begun, go] = [join(toy.folder, "begun"), join(toy.folder, "go")];
    install(
      "slow",
      `${SLOW}import time\nopen(${JSON.stringify(begun)}, "w").close()\nwhile not os.path.exists(${JSON.stringify(go)}): time.sleep(0.01)`,
    );
    const pod = start();
    pod.preload(["slow"]);
    await expect.poll(() => existsSync(begun), TIMEOUT).toBe(true);
    const state =
      "[open(f'/proc/{n}/stat').read().rpartition(')')[2].split()[0] for n in open('/proc/%d/task/%d/children' % ((os.getppid(),) * 2)).read().split() if int(n) != os.getpid()]";
    const end = await run(pod, `print('states', ${state})`);
    expect([end.out.split("\n").at(-1), end.retires]).toEqual(["states ['T']", null]);
    writeFileSync(go, "");
    await runAhead(pod);
  });

  it.each([
    ["fails", "raise ImportError('no')"],
    ["ends the process", "import os; os._exit(0)"],
    ["writes", "print('hello')"],
    ["starts a thread", "import threading, time; threading.Thread(target=time.sleep, args=(99,), daemon=True).start()"],
    ["starts a process", "import subprocess; process = subprocess.Popen(['sleep', '9'])"],
    ["leaves a file open", "file = open('/dev/zero')"],
    ["handles signals", "import signal; signal.signal(signal.SIGTERM, lambda *_: None)"],
    ["changes the path", "import sys; sys.path.insert(0, '/other')"],
    ["registers with flytekit", "from flytekit.bin import entrypoint"],
    ["keeps a variable of the attempt", "import os; kept = [os.environ['FLYTE_INTERNAL_EXECUTION_ID']]"],
  ])("are without one that %s, and then with the others", async (_, text) => {
    install("bad", text);
    install("slow", SLOW);
    const pod = start();
    pod.preload(["bad", "slow"]);
    const end = await runAhead(pod);
    expect([end.refused, end.retires]).toEqual([["bad"], null]);
    pod.preload(["slow"], ["bad"]);
    await runUntil(pod, LOOK, ({ refused }) => refused === undefined);
  });

  it("are those of the image alone: neither files that attempts wrote nor what is outside of its packages", async () => {
    install("slow", SLOW);
    toy.addModule("beside.py", "");
    const pod = start();
    await run(pod, `open(${JSON.stringify(join(packages, "late.py"))}, 'w').close()`);
    await run(pod, `open(${JSON.stringify(join(packages, "slow.py"))}, 'a').write('#')`);
    pod.preload(["late", "beside", "json", "nowhere", "slow"]);
    const end = await runUntil(pod, LOOK, ({ refused = [] }) => refused.length === 5);
    expect([end?.refused, end?.out.endsWith("own False")]).toEqual([["late", "beside", "json", "nowhere", "slow"], true]);
  });

  it("are compiled anew where an attempt may have compiled them", async () => {
    install("slow", SLOW);
    const pod = start();
    const path = JSON.stringify(join(packages, "slow.py"));
    const attack = [
      "import importlib.util, marshal, struct",
      `path = ${path}; status = os.stat(path)`,
      "code = compile('loaded_by = -1', path, 'exec')",
      "cached = importlib.util.cache_from_source(path); os.makedirs(os.path.dirname(cached), exist_ok=True)",
      "head = importlib.util.MAGIC_NUMBER + struct.pack('<III', 0, int(status.st_mtime), status.st_size)",
      "open(cached, 'wb').write(head + marshal.dumps(code))",
    ].join("\n");
    await run(pod, attack);
    expect((await run(pod, `${LOOK}; print('by', slow.loaded_by)`)).out).toContain("by -1");
    pod.preload(["slow"]);
    await preloaded(pod);
    const { out } = await run(pod, `${LOOK}; print('by', slow.loaded_by)`);
    expect([out.includes("ahead False"), out.includes("by -1")]).toEqual([true, false]);
  });

  it("are told by an attempt that forges its report as names, and few", async () => {
    const forged = JSON.stringify(["a b", "../x", "x;y", 5, "a".repeat(101), "good.one", ...Array.from({ length: 99 }, (_, i) => `m${i}`)]);
    const end = await run(start(), `os.write(128, ${JSON.stringify(`${forged}\n`)}.encode())`);
    expect([end.imports?.length, end.imports?.[0], end.imports?.[1]]).toEqual([32, "good.one", "m0"]);
    const broken = await run(start(), "os.write(128, b'[' * 60000)");
    expect([broken.imports, broken.code, broken.retires]).toEqual([undefined, 0, null]);
  });

  it.each([
    ["ends", 9],
    ["stops", 19],
  ])("are loaded again after an attempt that %s their process", async (_, signal) => {
    install("slow", SLOW);
    const pod = start();
    pod.preload(["slow"]);
    await runAhead(pod);
    const others = "[int(n) for n in open('/proc/%d/task/%d/children' % ((os.getppid(),) * 2)).read().split() if int(n) != os.getpid()]";
    const end = await run(pod, `[os.kill(n, ${signal}) for n in ${others}]; print('sent')`);
    expect([end.out.split("\n").at(-1), end.code, end.retires]).toEqual(["sent", 0, null]);
    expect((await run(pod, "print('fine')")).code).toBe(0);
    await runAhead(pod);
  });

  it("are hidden by the program of the local stack", () => {
    const file = join(import.meta.dirname, "../../../../../services/local-cluster/python/hidden_modules.py");
    expect(readFileSync(file, "utf8").trim().endsWith(HIDDEN_MODULES.trim())).toBe(true);
  });
});
