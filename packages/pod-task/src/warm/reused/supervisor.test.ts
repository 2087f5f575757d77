import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { REUSED_SUPERVISOR } from "./supervisor.js";
import { type SupervisorOptions, type SupervisorProcess, SupervisorProcesses, TIMEOUT } from "./supervisor-process.fixture.js";
import { WARM_IDLE_EXIT_CODE } from "../supervisor.js";
import { canRunSupervisors, ENTRYPOINT, loaded, observations, ToyFlytekit } from "../toy-flytekit.fixture.js";

/** A module with the part of botocore's session from which clients get their data. */
const TOY_BOTOCORE = `
import os
class Loader:
    read_by = None
def create_loader(search_path_string=None):
    return Loader()
class Session:
    def register_component(self, name, component):
        self.loader = component
    def create_client(self, service, **settings):
        self.loader.read_by = os.getpid()
`;
/** Containers have no capability to trace others; the user of a test may. */
const UNPRIVILEGED = ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"];
/** A process 1 with objects of System V of its own, as in a container. */
const CONTAINED = ["unshare", "--pid", "--fork", "--kill-child", "--ipc", "--mount-proc"];
const canContain = spawnSync("unshare", [...CONTAINED.slice(1), "true"]).status === 0;

describe.skipIf(!canRunSupervisors)("the supervisor of a reused warm pod", { timeout: 60_000 }, () => {
  let toy: ToyFlytekit;
  let processes: SupervisorProcesses;

  beforeEach(() => {
    toy = new ToyFlytekit();
    processes = new SupervisorProcesses(toy);
  });
  afterEach(() => {
    processes.stop();
    toy.remove();
  });

  const reused = (entry: string, options: SupervisorOptions = {}) => processes.start(entry, options);
  type Pod = SupervisorProcess;

  const state = (out: string) => observations(out).map(({ environment, directory, ...rest }) => ({ ...rest, environment, directory }));
  const without = (names: readonly string[], list: Record<string, unknown>[]) =>
    list.map((each) => Object.fromEntries(Object.entries(each).filter(([name]) => !names.includes(name))));

  it("runs the code that an attempt brings instead of the same module of the image, and the image's again after it", async () => {
    writeFileSync(join(toy.directory, "flow.py"), "VALUE = 'of the image'");
    mkdirSync(join(toy.directory, "src"));
    writeFileSync(join(toy.directory, "src", "steps.py"), "VALUE = 'of the image'");
    const path = [toy.directory, join(toy.directory, "src"), join(toy.folder, "lib")].join(":");
    const pod = reused("pyflyte-fast-execute", { variables: { PYTHONPATH: path } });
    const show = ["pyflyte-execute", "import flow, steps; print(flow.VALUE, '/', steps.VALUE)", "--dest-dir", toy.directory];
    const unpack =
      "os.unlink('flow.py'); os.unlink('src'); os.mkdir('src'); [open(name, 'w').write('VALUE = 1') for name in ('flow.py', 'src/steps.py')]";
    const first = await pod.run("a", ["pyflyte-fast-execute", unpack, ...show]);
    expect([first.out.split("\n").at(-1), first.code, first.retires]).toEqual(["1 / 1", 0, null]);
    const argv = observations(first.out)[1]?.["argv"] as readonly string[];
    expect(argv.slice(-2)).toEqual(["--dest-dir", "."]);
    pod.acknowledge();
    const second = await pod.run("b", ["pyflyte-fast-execute", "pass", ...show]);
    expect([second.out.split("\n").at(-1), second.code, second.retires]).toEqual(["of the image / of the image", 0, null]);
    // The import of the supervisor serves both.
    const importer = loaded(first.out)[1];
    expect([importer, loaded(second.out)[1]]).toEqual([importer, importer]);
    expect(loaded(first.out)[2]).not.toBe(importer);
  });

  it("runs attempts in processes of their own, which show what new interpreters show", async () => {
    toy.countImports();
    const command = ["pyflyte-execute", "pass", "--input", "a b"];
    const cold = toy.runCold(command);
    const pod = reused("pyflyte-execute");
    const first = await pod.run("a", command);
    const second = await pod.run("b", command);
    const differing = ["environment", "directory"];
    expect(without(differing, observations(first.out))).toEqual(without(differing, observations(cold.out)));
    const [attemptOfFirst] = observations(first.out);
    expect(attemptOfFirst?.["environment"]).toMatchObject({ KEPT: "k", FLYTE_INTERNAL_EXECUTION_ID: "a", FLYTE_ATTEMPT_NUMBER: "2" });
    expect(JSON.stringify(state(second.out))).toBe(JSON.stringify(state(first.out)).replaceAll('"a"', '"b"'));
    expect([first.code, second.code, first.retires, second.retires]).toEqual([0, 0, null, null]);
    expect(loaded(first.out)[2]).not.toBe(loaded(second.out)[2]);
    // The new interpreter's import, and one of the supervisor for both.
    expect(toy.importers()).toHaveLength(2);
  });

  it("gives each attempt an event loop of its own where flytekit has made one", async () => {
    toy.setEntrypoint(`${ENTRYPOINT}\nimport asyncio\nLOOP = asyncio.new_event_loop()\n`);
    const write = "from flytekit.bin.entrypoint import LOOP; LOOP._csock.send(b'secret')";
    const read = `from flytekit.bin.entrypoint import LOOP, asyncio
try:
    print(LOOP._ssock.recv(100))
except BlockingIOError:
    print("nothing")
print(LOOP.run_until_complete(asyncio.sleep(0, "works")))`;
    const cold = toy.runCold(["pyflyte-execute", read]);
    const pod = reused("pyflyte-execute");
    const first = await pod.run("a", ["pyflyte-execute", write]);
    const second = await pod.run("b", ["pyflyte-execute", read]);
    expect([first.code, first.retires, second.out.split("\n").slice(-2)]).toEqual([0, null, ["nothing", "works"]]);
    expect(observations(second.out)[0]?.["files"]).toEqual(observations(cold.out)[0]?.["files"]);
    const [importer, , process] = loaded(second.out).slice(1);
    expect(importer).not.toBe(process);
  });

  it("runs the second process of pyflyte-fast-execute without another import", async () => {
    toy.countImports();
    const command = (text: string) => [
      "pyflyte-fast-execute",
      `os.mkdir('code'); open('code/flow.py', 'w').write('x = ${text}')`,
      "pyflyte-execute",
      "import flow; print('flow', flow.x)",
    ];
    toy.replaceFile(join(toy.directory, "data"), "d");
    const pod = reused("pyflyte-fast-execute");
    // The folder of the image has the same name as the attempt's.
    const first = await pod.run("a", [
      "pyflyte-fast-execute",
      "os.unlink('code'); " + (command("1")[1] as string),
      ...command("1").slice(2),
    ]);
    const second = await pod.run("b", [
      "pyflyte-fast-execute",
      "os.unlink('code'); " + (command("2")[1] as string),
      ...command("2").slice(2),
    ]);
    expect([first.code, second.code, first.retires, second.retires]).toEqual([0, 0, null, null]);
    expect(first.out).toContain("flow 1");
    expect(second.out).toContain("flow 2");
    expect(toy.importers()).toHaveLength(1);
  });

  it("reads the data of S3 clients once, for the first session of each process alone", async () => {
    toy.addModule("s3fs.py", "import botocore.session");
    toy.addModule("botocore/__init__.py", "");
    toy.addModule("botocore/session.py", TOY_BOTOCORE);
    const pod = reused("pyflyte-execute");
    const code = [
      "import botocore.session as session",
      "loaders = [session.create_loader() for _ in range(2)]",
      "print('read by', *[loader.read_by == os.getppid() for loader in loaders], session.create_loader.__name__, flush=True)",
    ].join("\n");
    for (const take of ["a", "b"])
      expect((await pod.run(take, ["pyflyte-execute", code])).out).toContain("read by True False create_loader");
    const own = "import botocore.session as session; print('read by', session.create_loader('/own').read_by, flush=True)";
    expect((await pod.run("c", ["pyflyte-execute", own])).out).toContain("read by None");
  });

  it("starts a new interpreter where flytekit keeps a variable of the attempt", async () => {
    toy.setEntrypoint(`${ENTRYPOINT}\nkept = [os.environ["FLYTE_INTERNAL_EXECUTION_ID"]]\n`);
    const pod = reused("pyflyte-execute");
    const { out, code } = await pod.run("a", ["pyflyte-execute", "import flytekit.bin.entrypoint as e; print('kept', e.kept)"]);
    expect(code).toBe(0);
    expect(out).toContain("kept ['a']");
  });

  /** An attempt's attack, and what the next attempt prints. */
  const look = "import os, sys, signal, threading, resource, tempfile; ";
  it.each([
    ["variables", "os.environ['EVIL'] = '1'", "os.environ.get('EVIL')", "None"],
    [
      "modules",
      "import json; json.evil = 1; sys.modules['evil'] = json",
      "(hasattr(__import__('json'), 'evil'), 'evil' in sys.modules)",
      "(False, False)",
    ],
    ["the path", "sys.path.insert(0, '/evil')", "'/evil' in sys.path", "False"],
    [
      "the working folder",
      "open('evil', 'w').close(); os.chdir('/')",
      "(os.getcwd().endswith('/work'), os.path.exists('evil'))",
      "(True, False)",
    ],
    ["the folder of the attempt", "import shutil; shutil.rmtree(os.path.dirname(os.getcwd()))", "os.listdir('.')", "['code']"],
    ["temporary files", "tempfile.mkstemp(prefix='evil')", "os.listdir(tempfile.gettempdir())", "[]"],
    [
      "open files",
      "os.set_inheritable(os.open('/dev/zero', os.O_RDONLY), True)",
      "[n for n in os.listdir('/proc/self/fd') if os.path.realpath(f'/proc/self/fd/{n}') == '/dev/zero']",
      "[]",
    ],
    ["threads", "threading.Thread(target=__import__('time').sleep, args=(99,), daemon=True).start()", "threading.active_count()", "1"],
    ["signals", "signal.signal(signal.SIGTERM, signal.SIG_IGN)", "signal.getsignal(signal.SIGTERM) == signal.SIG_DFL", "True"],
    [
      "the mask of signals",
      "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])",
      "list(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
      "[]",
    ],
    [
      "the umask",
      "os.umask(0o77)",
      "os.umask(0o22) == int(open('/proc/%d/status' % os.getppid()).read().split('Umask:')[1].split()[0], 8)",
      "True",
    ],
    [
      "its limits",
      "resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
      "resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 64",
      "True",
    ],
    ["an immediate exit", "os._exit(7)", "'well'", "well"],
    ["its session", "os.setpgid(0, 0) if os.getpgid(0) != os.getpid() else None", "os.getsid(0) == os.getpid()", "True"],
  ])("keeps %s of an attempt from the next", async (_, attack, observed, expected) => {
    const pod = reused("pyflyte-execute");
    const first = await pod.run("a", ["pyflyte-execute", look + attack]);
    expect(first.retires).toBeNull();
    const second = await pod.run("b", ["pyflyte-execute", `${look}print('seen', ${observed})`]);
    expect(second.out.split("\n").at(-1)).toBe(`seen ${expected}`);
    expect(second.code).toBe(0);
  });

  const SLEEPER = "import subprocess; print('pid', subprocess.Popen(['sleep', '99'], start_new_session=True).pid, flush=True)";
  const BOMB = "[os.fork() for _ in range(5)]; __import__('time').sleep(99)";
  const isRunning = (pid: string) => existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  it.each([
    ["left a process in another session", SLEEPER, "the attempt left processes"],
    ["left many processes", `os.fork() or (${BOMB.replace("; ", ", ")})`, "the attempt left processes"],
    ["left a file", "open(os.environ['HOME'] + '/evil', 'w').close()", "the attempt left or changed"],
    ["changed a file of the image", "open('code/flow.py', 'w').close()", "the attempt left or changed"],
    [
      "changed the limits of the supervisor",
      "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (99, 99))",
      "the attempt changed limits",
    ],
  ])("retires after an attempt that %s", async (_, attack, reason) => {
    const pod = reused("pyflyte-execute");
    const first = await pod.run("a", ["pyflyte-execute", look + attack]);
    expect(first.retires).toContain(reason);
    expect(await pod.exit).toBe(first.code);
    const pids = [...first.out.matchAll(/^pid (\d+)$/gm)].map(([, pid = ""]) => pid);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  const LIBC = "import ctypes; libc = ctypes.CDLL(None); ";
  it.skipIf(!canContain).each([
    ["left shared memory", `${LIBC}libc.shmget(77, 4096, 0o1600)`],
    ["left a semaphore", `${LIBC}libc.semget(77, 1, 0o1600)`],
    ["left a queue", `${LIBC}libc.msgget(77, 0o1600)`],
  ])("retires in a container after an attempt that %s", async (_, attack) => {
    const pod = reused("pyflyte-execute", { within: CONTAINED });
    const first = await pod.run("a", ["pyflyte-execute", look + attack]);
    expect(first.retires).toContain("shared memory, semaphores or queues");
    expect(await pod.exit).toBe(0);
  });

  it.skipIf(!canContain)("survives kills of the container's processes, and a bomb of processes", async () => {
    const pod = reused("pyflyte-execute", { within: CONTAINED });
    const kill = "[os.kill(pid, number) for pid in (1, os.getppid()) for number in (signal.SIGKILL, signal.SIGSTOP)]; print('alive')";
    const first = await pod.run("a", ["pyflyte-execute", look + kill]);
    expect([first.out.split("\n").at(-1), first.retires]).toEqual(["alive", null]);
    const bomb = "[(os.fork(), os.setsid()) for _ in range(8)]; __import__('time').sleep(99)";
    const second = await pod.run("b", ["pyflyte-execute", `os.fork() or (${bomb.replace("; ", ", ")})`]);
    expect(second.retires).toBe("the attempt left processes");
    expect(await pod.exit).toBe(second.code);
  });

  it("removes modules that an attempt compiled beside those of the image", async () => {
    const pod = reused("pyflyte-execute");
    const attack = "os.mkdir('code/__pycache__'); open('code/__pycache__/flow.cpython-311.pyc', 'w').write('evil')";
    expect((await pod.run("a", ["pyflyte-execute", attack])).retires).toBeNull();
    expect((await pod.run("b", ["pyflyte-execute", "print('seen', os.listdir('code'))"])).out).toMatch(/^seen \[\]$/m);
  });

  it("retires after its number of attempts, and after its lifetime", async () => {
    const pod = reused("pyflyte-execute", { most: 2 });
    expect((await pod.run("a", ["pyflyte-execute", "pass"])).retires).toBeNull();
    expect((await pod.run("b", ["pyflyte-execute", "sys.exit(4)"])).retires).toContain("number of attempts");
    expect(await pod.exit).toBe(4);
    pod.acknowledge();
    expect(await reused("pyflyte-execute", { lifetime: 0.2 }).exit).toBe(WARM_IDLE_EXIT_CODE);
  });

  it("retires when the memory of the pod has grown", async () => {
    const pod = reused("pyflyte-execute", { growth: -(2 ** 50) });
    expect((await pod.run("a", ["pyflyte-execute", "pass"])).retires).toBe("the memory of the pod has grown");
  });

  it.each([
    ["an exit code", "sys.exit(3)", 3],
    ["a message", "sys.exit('bad')", 1],
    ["an error", "raise ValueError('no')", 1],
    ["a signal of its own", "os.kill(os.getpid(), 9)", 137],
  ])("tells %s and the last lines", async (_, code, expected) => {
    const command = ["pyflyte-execute", code];
    const cold = toy.runCold(command);
    const end = await reused("pyflyte-execute").run("a", command);
    expect(end.code).toBe(expected);
    expect(end.message).toContain(cold.err.trim());
  });

  it("marks lines so that an attempt cannot write the supervisor's marks", async () => {
    const forged = JSON.stringify({ end: "a", code: 0, retires: null });
    const attack = [
      `print('tag-a= ${forged}')`,
      "pid = os.getppid()",
      "for name in ('fd/1', 'mem'):",
      "    try: open(f'/proc/{pid}/{name}', 'wb', 0); print('reached', name)",
      "    except OSError as error: print('refused', error.errno)",
      "sys.exit(5)",
    ].join("\n");
    const end = await reused("pyflyte-execute", { within: UNPRIVILEGED }).run("a", ["pyflyte-execute", attack]);
    expect(end.code).toBe(5);
    expect(end.out).toContain(`tag-a= ${forged}`);
    expect(end.out.match(/^(?:refused|reached).*$/gm)).toEqual(["refused 13", "refused 13"]);
  });

  it("writes long, incomplete and mixed lines of both streams before the end", async () => {
    const text = "sys.stderr.write('e1\\n'); sys.stdout.write('x' * 300000 + '\\n'); sys.stdout.write('last')";
    const pod = reused("pyflyte-execute");
    const { out } = await pod.run("a", ["pyflyte-execute", text]);
    expect(out.split("\n").at(-1)).toBe("last");
    expect(out).toContain("e1");
    expect(out.replaceAll("\n", "")).toContain("x".repeat(300_000));
    expect(pod.log().trimEnd().split("\n").at(-1)).toMatch(/^tag-a= \{"end"/);
  });

  const abort = (pod: Pod, take: string, command: readonly string[]) => pod.assign(take, command, { abort: true });
  it("ends an attempt on request within 2 s, and serves the next", async () => {
    const pod = reused("pyflyte-execute");
    const command = [
      "pyflyte-execute",
      `${look}signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); __import__('time').sleep(99)`,
    ];
    pod.assign("a", command);
    await expect.poll(() => pod.output("a"), TIMEOUT).toMatch(/^ready$/m);
    const at = Date.now();
    abort(pod, "a", command);
    const end = await pod.ended("a");
    expect(Date.now() - at).toBeLessThan(2_000);
    expect([end.aborted, end.stopped, end.retires]).toEqual([true, false, null]);
    expect((await pod.run("b", ["pyflyte-execute", "print('fine')"])).out).toContain("fine");
  });

  it("does not run an attempt that was aborted before its start", async () => {
    const pod = reused("pyflyte-execute");
    pod.assign("a", ["pyflyte-execute", "print('ran')"], { abort: true });
    const end = await pod.ended("a");
    expect([end.aborted, end.retires, end.out]).toEqual([true, null, ""]);
  });

  it("runs an assignment once, also when it appears again", async () => {
    const pod = reused("pyflyte-execute");
    const command = ["pyflyte-execute", "print('ran')"];
    await pod.run("a", command);
    await pod.run("b", command);
    pod.assign("a", command);
    await pod.run("c", command);
    expect(pod.output("a").match(/^ran$/gm)).toHaveLength(1);
    expect(pod.ends("a")).toHaveLength(1);
  });

  it("repeats the mark of an end until it is acknowledged", async () => {
    const pod = reused("pyflyte-execute");
    await pod.run("a", ["pyflyte-execute", "pass"]);
    await expect.poll(() => pod.ends("a").length, TIMEOUT).toBeGreaterThan(1);
    pod.acknowledge();
    expect((await pod.run("b", ["pyflyte-execute", "pass"])).code).toBe(0);
  });

  it("passes the signal of a deleted pod on, and ends with the attempt", async () => {
    const pod = reused("pyflyte-execute");
    const wait = `${look}signal.signal(signal.SIGTERM, lambda *_: sys.exit(9)); print('ready', flush=True); __import__('time').sleep(99)`;
    pod.assign("a", ["pyflyte-execute", wait]);
    await expect.poll(() => pod.output("a"), TIMEOUT).toMatch(/^ready$/m);
    pod.child.kill("SIGTERM");
    expect(await pod.exit).toBe(9);
    expect(pod.ends("a")[0]).toMatchObject({ stopped: true, retires: "the pod is stopped" });
  });

  it("leaves no folder of an attempt that has ended", async () => {
    const pod = reused("pyflyte-execute");
    await pod.run("a", ["pyflyte-execute", "open('big', 'w').write('x'); __import__('tempfile').mkstemp()"]);
    const [base = ""] = readdirSync(join(toy.folder, "tmp"));
    expect(readdirSync(join(toy.folder, "tmp", base, "work"))).toEqual(["code"]);
    expect(readdirSync(join(toy.folder, "tmp", base, "tmp"))).toEqual([]);
    writeFileSync(join(toy.folder, "done"), "");
  });

  it("contains nothing that kubelets would expand", () => {
    expect(REUSED_SUPERVISOR).not.toContain("$");
  });
});
