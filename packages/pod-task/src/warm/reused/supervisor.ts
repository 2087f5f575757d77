import { PREPARED_INTERPRETER } from "../prepared-interpreter.js";
import { ATTEMPT_FOLDERS } from "./folders.js";
import { PRELOAD } from "./preload.js";

/**
 * Python program of a warm pod that serves several attempts, one after the other. Arguments: entry
 * point of flytekit, names of the attempt's variables, file of the assignment, lifetime in seconds,
 * maximum number of attempts, maximum growth in bytes, folders in which attempts could leave files.
 * Needs the standard library alone.
 *
 * It imports flytekit once, with placeholders for the attempt's variables. Each assignment runs in
 * a fork: a session of its own, with a working folder and a folder for temporary files that are
 * emptied afterwards. The second process of `pyflyte-fast-execute` is a fork as well. What could
 * behave differently than in a new interpreter starts one.
 *
 * The program is the only writer of the container's log. A line of the attempt follows its tag and
 * `| `; a mark of the program is JSON after the tag and `= `. So an attempt cannot write marks. The
 * mark of an end is repeated until the assignment is gone, since logs rotate; it is the termination
 * message too. It tells whether the attempt got the signal that stops the pod: the kubelet tells
 * the reason later, in the status of the pod.
 *
 * The pod ends after its lifetime, its number of attempts, when an attempt leaves processes, files
 * or memory behind or changes this program's limits, and when an end is not acknowledged in time.
 */
export const REUSED_SUPERVISOR = `${PREPARED_INTERPRETER}

import collections, select, stat, threading

TERMINATION_LOG = "/dev/termination-log"
SUBREAPER, DUMPABLE = 36, 4
LONGEST_LINE = 256 << 10
POLL = 0.02
# Time between the signals TERM and KILL of an abort, and after which an end has to be acknowledged.
GRACE, ACKNOWLEDGED = 0.5, 45
REPEATS = (1, 3, 10, 20, 30)
# What flytekit imports when a task runs.
LATER = ("fsspec.implementations.local", "fsspec.implementations.http", "s3fs", "flytekit.core.python_auto_container", "flytekit.core.default_resolver")


def control(option, value):
    with contextlib.suppress(Exception):
        import ctypes

        return ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0
    return False


def numbers(path):
    """Reads a file of names and numbers."""
    with contextlib.suppress(OSError, ValueError):
        with open(path) as file:
            return {words[0]: int(words[1]) for words in map(str.split, file) if len(words) == 2 and words[1].isdigit()}
    return {}


def oom_kills():
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        if "oom_kill" in (known := numbers(path)):
            return known["oom_kill"]
    return 0


def memory_in_use():
    known = numbers("/sys/fs/cgroup/memory.stat") or numbers("/sys/fs/cgroup/memory/memory.stat")
    return sum(known.get(name, 0) for name in (("anon", "shmem") if "anon" in known else ("total_rss", "total_shmem")))


def own_settings(process=0):
    """What another process of the same user can change of this one, or of the given one."""
    import resource

    adjustment, limits = None, [resource.prlimit(process, number) for number in range(16)]
    with contextlib.suppress(OSError):
        with open(f"/proc/{process or 'self'}/oom_score_adj") as file:
            adjustment = file.read()
    return limits, os.sched_getaffinity(process), os.sched_getscheduler(process), os.getpriority(os.PRIO_PROCESS, process), adjustment


def ipc_objects():
    """Objects of System V in the pod, which outlive their processes. Elsewhere others make them too."""
    found = set()
    for kind in ("shm", "sem", "msg") if os.getpid() == 1 else ():
        with contextlib.suppress(OSError):
            with open(f"/proc/sysvipc/{kind}") as file:
                found.update((kind, *line.split()[:2]) for line in file)
    return found


${ATTEMPT_FOLDERS}

class Log:
    """Writes marks and the lines of attempts, all to one pipe: the order between two pipes is not kept."""

    def __init__(self):
        self.descriptor = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 1 << 7)

    def start(self, tag):
        self.tag = tag.encode()
        self.rest, self.tail = {}, collections.deque(maxlen=80)

    def write(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.descriptor, view) :]

    def mark(self, **fields):
        self.write(self.tag + b"= " + json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\\n")

    def add(self, pipe, data):
        *lines, rest = (self.rest.get(pipe, b"") + data).split(b"\\n")
        if len(rest) > LONGEST_LINE:
            lines, rest = [*lines, rest], b""
        self.rest[pipe] = rest
        self.lines(lines)

    def lines(self, lines):
        if lines:
            self.tail.extend(line[-2048:] for line in lines[-80:])
            self.write(b"".join(self.tag + b"| " + line + b"\\n" for line in lines))

    def finish(self):
        self.lines([rest for rest in self.rest.values() if rest])

    def last_lines(self):
        return b"\\n".join(self.tail)[-2048:].decode("utf-8", "replace")


def children():
    """Processes without a parent in the pod come to this one."""
    found = set()
    me = str(os.getpid())
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError):
            with open(f"/proc/{name}/stat") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
            if parent == me and state not in "ZX" and int(name) not in kept:
                found.add(int(name))
    return found


def reap():
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_processes():
    """Ends all processes of the attempt. Returns whether there were some that would not have ended by themselves."""
    for round in range(400):
        reap()
        running = children()
        if not running:
            # One that ended since the last call is not listed.
            reap()
            return round > 20
        # The second process that was not used ends when it sees the end of the first.
        for pid in running if round >= 20 else ():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        # This also ends processes that multiply faster than they are listed.
        if round >= 60 and os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
        time.sleep(0.005)
    return True


${PRELOAD}

class Supervisor:
    def __init__(self, entry, names, file, shared, lifetime, most, growth):
        self.names, self.file, self.most, self.growth = set(names), file, most, growth
        self.end = time.monotonic() + lifetime
        self.stopped, self.attempts, self.done = False, 0, set()
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "stopped", True))
        self.log = Log()
        self.hidden, self.preload, self.born = None, None, time.time_ns()
        self.script = script_of(entry, os.environ.get("PATH"))
        self.directory = os.getcwd()
        self.start, self.loaded, self.folders, self.changing = dict(os.environ), None, None, []
        with contextlib.suppress(OSError):
            self.folders = Folders(self.directory, os.environ.get("TMPDIR") or "/tmp", shared)
            self.start["TMPDIR"] = os.environ["TMPDIR"] = self.folders.temporary
            self.use_own_path()
            os.chdir(self.folders.work)
        if self.script and interpreter_of(self.script) == sys.executable:
            self.prepare(names)
        # An attempt must not reach the log, or the memory, of this program.
        self.is_confined = control(SUBREAPER, 1) and control(DUMPABLE, 0)
        os.chdir("/")
        if self.folders:
            self.folders.keep()
        self.settings, self.objects, self.memory = own_settings(), ipc_objects(), memory_in_use()
        if self.is_confined and self.loaded is not None and self.loaded.is_usable and can_follow_processes():
            self.preload = Preload(self, os.path.join(os.path.dirname(file), "preload"))

    def use_own_path(self):
        """Replaces the image's working folder on the path by that of the attempt, where newer code is unpacked over the image's."""
        variable, directory = os.environ.get("PYTHONPATH"), directory_of(self.directory)
        if variable is None or directory == "/":
            return
        own = {}
        for path in filter(None, variable.split(os.pathsep)):
            place = directory_of(path)
            if place.startswith(directory):
                own[path] = own[os.path.abspath(path)] = os.path.join(self.folders.work, place[len(directory) :]).rstrip("/")
        self.start["PYTHONPATH"] = os.environ["PYTHONPATH"] = os.pathsep.join(own.get(path, path) for path in variable.split(os.pathsep))
        sys.path[:] = [own.get(path, path) for path in sys.path]
        self.changing = list(own.values())

    def in_own_folder(self, command):
        """Lets code that belongs in the image's working folder be unpacked in that of the attempt."""
        at = command.index("--dest-dir") + 1 if "--dest-dir" in command[:-1] else 0
        if not at or not self.folders or directory_of(os.path.expanduser(command[at])) != directory_of(self.directory):
            return command
        return [*command[:at], ".", *command[at + 1 :]]

    def prepare(self, names):
        os.environ.update({name: f"{MARK}{number}" for number, name in enumerate(names)})
        sys.path[:] = [*own_path(self.script), *(sys.path if getattr(sys.flags, "safe_path", False) else sys.path[1:])]
        # The command tells an error of the import once it runs.
        with contextlib.suppress(Exception):
            self.loaded = Import(LATER)
            self.loaded.finish({**self.start, **{name: os.environ.get(name) for name in names}})
        gc.collect()
        gc.freeze()

    def assignment(self):
        with contextlib.suppress(OSError, ValueError):
            with open(self.file) as content:
                return json.loads(content.read() or "null")
        return None

    def await_assignment(self):
        seen = ()
        while True:
            if self.stopped or time.monotonic() > self.end:
                end_idle()
            now = stamp(self.file)
            if now != seen:
                seen = now
                assigned = self.assignment()
                if assigned is not None and assigned["take"] not in self.done:
                    return assigned
            if self.preload is not None:
                self.preload.step()
            time.sleep(POLL)

    def serve(self):
        while True:
            assigned = self.await_assignment()
            if self.preload is not None:
                self.preload.pause()
            self.done.add(assigned["take"])
            self.attempts += 1
            code, end = self.run_attempt(assigned)
            self.keep_end(end)
            self.log.mark(**end)
            if end["retires"] is None:
                self.await_acknowledgement(assigned["take"], end)
            else:
                os._exit(code)

    def keep_end(self, end):
        """Makes the end the termination message; the limit is 4096 bytes."""
        end = {name: value for name, value in end.items() if name not in ("imports", "refused")}
        text = json.dumps({**end, "message": end["message"][-1000:]}).encode()
        with contextlib.suppress(OSError):
            with open(TERMINATION_LOG, "wb") as log:
                log.write(text if len(text) <= 4096 else json.dumps({**end, "message": ""}).encode())

    def await_acknowledgement(self, take, end):
        ended, repeats, seen = time.monotonic(), list(REPEATS), ()
        while True:
            time.sleep(POLL)
            now = stamp(self.file)
            if now != seen:
                seen = now
                assigned = self.assignment()
                if assigned is None or assigned["take"] != take:
                    return
            waited = time.monotonic() - ended
            if self.stopped or waited > ACKNOWLEDGED:
                os._exit(end["code"])
            if repeats and waited > repeats[0]:
                repeats.pop(0)
                self.log.mark(**end)

    def run_attempt(self, assigned):
        take = assigned["take"]
        self.log.start(assigned["tag"])
        with contextlib.suppress(OSError):
            open(TERMINATION_LOG, "wb").close()
        started, kills = time.time(), oom_kills()
        self.log.mark(start=take, at=started)
        clean = self.folders is not None and self.folders.reset()
        outcome = (143, True, False, False, []) if assigned.get("abort") else self.follow(*self.fork(assigned), take)
        code, aborted, stopped, left, imports = outcome
        finished = time.time()
        message = ""
        with contextlib.suppress(OSError):
            with open(TERMINATION_LOG, "rb") as log:
                message = log.read(4096).decode("utf-8", "replace")
        oom = oom_kills() > kills
        end = {"end": take, "code": code, "oom": oom, "aborted": aborted, "stopped": stopped, "startedAt": started, "finishedAt": finished}
        retires = self.reason_to_retire(clean, left)
        told = self.preload.told(imports) if self.preload is not None else {}
        return code, {**end, **told, "message": message or (self.log.last_lines() if code else ""), "retires": retires}

    def reason_to_retire(self, clean, left):
        if self.stopped:
            return "the pod is stopped"
        if not self.is_confined or not clean:
            return "attempts cannot be separated here"
        if left:
            return "the attempt left processes"
        if self.attempts >= self.most:
            return "the pod has served its number of attempts"
        if time.monotonic() > self.end:
            return "the pod has reached its age"
        if own_settings() != self.settings:
            return "the attempt changed limits of the pod"
        if ipc_objects() != self.objects:
            return "the attempt left or changed shared memory, semaphores or queues"
        if not self.folders.reset():
            return "the attempt left files"
        if memory_in_use() > self.memory + self.growth + (self.preload.memory() if self.preload is not None else 0):
            return "the memory of the pod has grown"
        return self.folders.change()

    def fork(self, assigned):
        """Starts the attempt. Returns its process, the pipes of its output, and that of what it imports."""
        pipes = os.pipe(), os.pipe(), os.pipe()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        inner = [pipe[1] for pipe in pipes]
        pid = self.preload.start(assigned, inner) if self.preload is not None else None
        if pid is None:
            pid = os.fork()
            if pid == 0:
                for descriptor in (*(pipe[0] for pipe in pipes), self.log.descriptor):
                    os.close(descriptor)
                if self.preload is not None:
                    self.preload.close()
                self.begin(assigned, *inner)
        for descriptor in inner:
            os.close(descriptor)
        return pid, (pipes[0][0], pipes[1][0]), pipes[2][0]

    def begin(self, assigned, output, errors, report):
        """Becomes the attempt, in a fork. Does not return."""
        os.setsid()
        os.dup2(output, 1)
        os.dup2(errors, 2)
        for descriptor in (output, errors):
            os.close(descriptor)
        self.become(assigned, set_aside(report))

    def become(self, assigned, report):
        """Runs the command of the attempt in this process. Does not return."""
        null = os.open(os.devnull, os.O_RDONLY)
        if null != 0:
            os.dup2(null, 0)
            os.close(null)
        control(DUMPABLE, 1)
        os.chdir(self.folders.work if self.folders else self.directory)
        command, variables = self.in_own_folder(assigned["command"]), assigned["env"]
        environment, loaded = {**self.start, **variables}, self.loaded
        if loaded is not None and threading.active_count() == 1 and script_of(command[0], environment.get("PATH")) == self.script:
            # The import of a new interpreter sets these too.
            known = {**environment, **loaded.variables}
            if loaded.holds_for(known, set(variables)) and set(variables) == self.names and loaded.holds_in(self.changing):
                RootImports(report, {name.partition(".")[0] for name in sys.modules})
                if os.path.basename(self.script) == "pyflyte-fast-execute":
                    hand_over_second(self.fork_second(), variables.keys())
                self.reseed()
                run(self.script, command[1:], known, list(sys.path))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.execvpe(command[0], command, environment)

    def reseed(self):
        """Gives each attempt random numbers of its own, as a new interpreter does; random itself does so."""
        modules = {**sys.modules, **(self.hidden.modules() if self.hidden else {})}
        numbers = modules.get("numpy.random.mtrand")
        if numbers is not None:
            numbers.seed()

    def fork_second(self):
        requests, replies = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(requests[1])
            os.close(replies[0])
            self.reseed()
            run_requested(self.loaded, os.fdopen(set_aside(requests[0]), "rb"), set_aside(replies[1]), self.changing)
        os.close(requests[0])
        os.close(replies[1])
        pipes = {"stdin": os.fdopen(set_aside(requests[1]), "wb", buffering=0), "stdout": os.fdopen(set_aside(replies[0]), "rb", buffering=0)}
        return types.SimpleNamespace(pid=pid, returncode=None, **pipes)

    def follow(self, pid, pipes, report, take):
        """Copies the output of the attempt until its end. Returns its exit code, whether it was aborted, whether it got the signal that stops the pod, whether it left processes, and what it imported."""
        poll = select.poll()
        for pipe in pipes:
            poll.register(pipe, select.POLLIN)
        open_pipes, process, status = set(pipes), None, None
        with contextlib.suppress(AttributeError, OSError):
            process = os.pidfd_open(pid)
            poll.register(process, select.POLLIN)
        seen, aborted_at, told, stopped = (), None, False, False
        while status is None:
            for descriptor, _ in poll.poll(POLL * 1000):
                if descriptor in open_pipes and not self.copy(descriptor):
                    poll.unregister(descriptor)
                    open_pipes.discard(descriptor)
            done, value = os.waitpid(pid, os.WNOHANG)
            if done:
                status = value
            now = stamp(self.file)
            if now != seen and aborted_at is None:
                seen = now
                assigned = self.assignment()
                if assigned is not None and assigned["take"] == take and assigned.get("abort"):
                    aborted_at = time.monotonic()
            if status is None and (aborted_at is not None or self.stopped) and not told:
                told, stopped = True, aborted_at is None
                self.signal(pid, signal.SIGTERM)
            if status is None and aborted_at is not None and time.monotonic() > aborted_at + GRACE:
                self.signal(pid, signal.SIGKILL)
        if process is not None:
            os.close(process)
        left = end_processes()
        for pipe in open_pipes:
            while self.copy(pipe):
                pass
        for pipe in pipes:
            os.close(pipe)
        self.log.finish()
        code = os.waitstatus_to_exitcode(status)
        return (128 - code if code < 0 else code), aborted_at is not None, stopped, left, reported(report)

    @staticmethod
    def signal(pid, number):
        with contextlib.suppress(OSError):
            os.killpg(pid, number)

    def copy(self, pipe):
        data = os.read(pipe, 1 << 16)
        if data:
            self.log.add(pipe, data)
        return bool(data)


def serve(entry, names, file, lifetime, most, growth, shared):
    script = script_of(entry, os.environ.get("PATH"))
    interpreter = script and interpreter_of(script)
    # Once only: an interpreter may name itself by another path.
    if interpreter and interpreter != sys.executable and shutil.which(interpreter) and not sys.argv[8:]:
        os.execv(interpreter, [interpreter, "-c", SOURCE, *sys.argv[1:], "chosen"])
    listed = [name for name in names.split(",") if name]
    Supervisor(entry, listed, file, shared.split(":"), float(lifetime), int(most), int(growth)).serve()


with open("/proc/self/cmdline", "rb") as line:
    words = line.read().split(b"\\0")
SOURCE = os.fsdecode(words[words.index(b"-c") + 1])
serve(*sys.argv[1:8])
`;
