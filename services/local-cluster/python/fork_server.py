"""Fork server: a Python process with preloaded modules that forks for each container that starts flytekit.

Before the fork the server loads modules without threads and without open files. Variables that differ between
containers are placeholders meanwhile, and `reset_process_state` corrects the other differences. A start that could
differ from that of a new process is declined, and the service starts a new process.

flytekit reads settings and creates folders at import. The import that the server has done does not fit a container with
settings of its own, which is declined too: another server that imports flytekit after the fork can serve it.

Standard input, output and error are files, as in a container. Descriptor 3 is the connection to the service, one JSON
object per line ("<-" marks requests):

    {"ready": true} or {"unavailable": reason}
    <- {"id": 1, "run": folder, "command": [...], "environment": {...}, "directory": folder}
    {"id": 1, "started": pid}, {"id": 1, "taken": true} (another runner has claimed the run) or {"id": 1, "declined": reason},
        with "withFlytekit": true when this process has imported flytekit, and "stale": true when preloaded modules have
        changed on disk, so that a new fork server would load others
    {"id": 1, "ended": exit status, negative for a signal}
    {"replaced": pid} (this process serves from now on)

Arguments name additional modules; the first one may be --without-flytekit. A fork loads them and flytekit, and then
replaces this process: see `spawn_successor`. Requests wait for it, at most SUCCESSOR_WAIT; this process serves those
that would wait longer.

A fork is a runner as in container/runner-script.ts: it leads a session, claims the run, waits for its only child, the
command, and writes the exit code. Runners outlive this process.
"""

import ctypes
import fcntl
import gc
import importlib
import importlib.machinery
import json
import mmap
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types

CONTROL = 3
WITHOUT_FLYTEKIT = "--without-flytekit"
RUNNER_NAME = "flyte-ts-runner"
#: Entry points that can run in a fork: they contain no user code and import flytekit first.
ENTRY_POINTS = ("pyflyte-execute", "pyflyte-fast-execute", "pyflyte-map-execute")
#: Signals that the runner handles without effect, like a shell with an empty trap; the command keeps the default action.
HANDLED_SIGNALS = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM")
#: Longest time for which a request waits for the successor, s. A process that imports the same modules itself takes
#: longer, and slows the successor down.
SUCCESSOR_WAIT = 3.0
#: Settings of C code while additional modules are loaded: pyarrow's jemalloc would start a thread for an unused allocator.
PRELOAD_SETTINGS = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}


def load_sibling(name, **names):
    """Loads a module of this folder, which finds these names, without adding it to sys.modules."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py")
    module = types.ModuleType(name)
    vars(module).update(names)
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec"), vars(module))
    return module


placeholders = load_sibling("placeholders")
preload = load_sibling("preload", placeholders=placeholders)
recording = load_sibling("recording")
exit_process = load_sibling("process_exit").exit_process
ForkDeclined, ForkServerUnavailable, python_path = preload.ForkDeclined, preload.ForkServerUnavailable, preload.python_path

libc = ctypes.CDLL(None, use_errno=True)
libc.sbrk.restype = ctypes.c_void_p


def script_of(command, path):
    """Returns the script of an entry point that uses this Python; raises ForkDeclined for other commands."""
    if os.path.basename(command) not in ENTRY_POINTS:
        raise ForkDeclined(f"{command} is not an entry point of flytekit")
    script = shutil.which(command, path=path)
    if script is None:
        raise ForkDeclined(f"{command} does not exist")
    with open(script, "rb") as file:
        source = file.read(65_536)
    if source.partition(b"\n")[0].rstrip() != b"#!" + os.fsencode(sys.executable):
        raise ForkDeclined(f"{script} uses another interpreter")
    return os.path.abspath(script) if os.path.dirname(command) == "" else script


# Appearance of a process in /proc


class MemoryMap(ctypes.Structure):
    """struct prctl_mm_map"""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in "start_code end_code start_data end_data start_brk brk start_stack arg_start arg_end env_start env_end auxv".split()
    ] + [("auxv_size", ctypes.c_uint32), ("exe_fd", ctypes.c_uint32)]


published = []


def publish(arguments, environment):
    """Publishes command line and environment in /proc, by which the service identifies processes of containers."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    line = b"".join(os.fsencode(word) + b"\0" for word in arguments)
    variables = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in environment.items())
    area = mmap.mmap(-1, len(line) + len(variables) + 1, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    area.write(line + variables)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    # Positions as in proc(5): they count from 1 and include the two fields cut off above.
    at = lambda position: int(fields[position - 3])  # noqa: E731
    known = MemoryMap(
        *map(at, (26, 27, 45, 46, 47)), libc.sbrk(0), at(28), start, start + len(line), start + len(line), start + len(line) + len(variables)
    )
    known.exe_fd = 0xFFFFFFFF
    PR_SET_MM, PR_SET_MM_MAP = 35, 14
    if libc.prctl(PR_SET_MM, PR_SET_MM_MAP, ctypes.byref(known), ctypes.c_ulong(ctypes.sizeof(known)), ctypes.c_ulong(0)) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_MM_MAP")
    published[:] = [area]


def open_files():
    """Returns open descriptors with their targets, without the one of the listing."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            pass
    return found


def check_process(files):
    """Raises ForkServerUnavailable for threads, which a fork would lose, and open files, which forks would share."""
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise ForkServerUnavailable(f"{threads} threads run")
    for number, name in open_files().items():
        if number not in files:
            raise ForkServerUnavailable(f"{name} is open")
    site = importlib.import_module("site")
    if site.ENABLE_USER_SITE is True:
        raise ForkServerUnavailable("packages of the home folder are enabled")
    try:
        publish(sys.orig_argv, os.environ)
        with open("/proc/self/environ", "rb") as file:
            if file.read().split(b"\0")[:-1] != [os.fsencode(f"{name}={value}") for name, value in os.environ.items()]:
                raise ForkServerUnavailable("the environment in /proc differs")
    except OSError as error:
        raise ForkServerUnavailable(f"the environment cannot be published in /proc: {error}") from error


# Processes of a container


def become(loaded, kit, script, arguments, environment):
    """Makes this fork indistinguishable from a new process of the script, which has imported flytekit if that was done before."""
    libc.prctl(15, os.fsencode(os.path.basename(script))[:15], 0, 0, 0)  # PR_SET_NAME
    old_path = os.environ.get("PYTHONPATH", "")
    os.environ.clear()
    os.environ.update(environment)
    if "LC_CTYPE" not in environment and "LC_CTYPE" in loaded.environment:
        os.environ["LC_CTYPE"] = loaded.environment["LC_CTYPE"]  # Python without a locale sets one itself.
    words = [sys.executable, script, *arguments]
    publish(words, environment)
    sys.argv = words[1:]
    sys.orig_argv = words
    own = [] if getattr(sys.flags, "safe_path", False) else [os.path.dirname(os.path.realpath(script))]
    rest = sys.path[len(own) :]
    before = python_path(old_path)
    sys.path[:] = unique([*own, *python_path(environment.get("PYTHONPATH", "")), *(path for path in rest if path not in before)])
    reset_process_state(loaded)
    if kit is not None:
        kit.repeat_effects()


def unique(paths):
    return list(dict.fromkeys(paths))


def reset_process_state(loaded):
    """Resets state that modules keep about their process."""
    for put, value in loaded.places:
        put(placeholders.replace_placeholders(value))
    tempfile.tempdir = None
    site = sys.modules["site"]
    site.USER_BASE = site.USER_SITE = None
    site.getusersitepackages()
    logging = sys.modules.get("logging")
    if logging is not None:
        logging._startTime = time.time_ns() if sys.version_info >= (3, 13) else time.time()
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        process.current_process().authkey = os.urandom(32)
    # Python reseeds its own random numbers in a fork; numpy does not.
    numbers = loaded.modules().get("numpy.random.mtrand")
    if numbers is not None:
        numbers.seed()


def run_as(request):
    """Turns a new fork into a runner that starts the command; returns only in the command's process. Writes to `claimed` once it can be signalled."""
    os.setsid()
    # Until the run is claimed, the death of the parent kills this process.
    PR_SET_PDEATHSIG = 1
    libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != request["parent"]:
        os._exit(125)
    null_device = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null_device, descriptor)
    os.close(null_device)
    claimed, folder, command, environment = request["claimed"], request["run"], request["command"], request["environment"]
    try:
        os.chdir(request["directory"])
        publish([RUNNER_NAME, folder, *command], environment)
    except OSError:
        os._exit(125)
    with open("/proc/self/stat", "rb") as file:
        line = file.read()
    try:
        claim = os.open(os.path.join(folder, "pid"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        os.write(claimed, b"t")
        os._exit(125)
    os.write(claim, line)
    os.close(claim)
    for name in HANDLED_SIGNALS:
        signal.signal(getattr(signal, name), lambda *_: None)
    libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)
    os.write(claimed, b"s")
    os.close(claimed)
    # Signals that arrive now are for the command: they stay blocked until it has its own handlers.
    numbers = [getattr(signal, name) for name in HANDLED_SIGNALS]
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    child = os.fork()
    if child == 0:
        for number in numbers:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        log = os.open(os.path.join(folder, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        for descriptor in (1, 2):
            os.dup2(log, descriptor)
        os.close(log)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
        return request
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code not in (signal.SIGINT, signal.SIGPIPE):
            # In the words of a shell, appended to the command's log.
            with open(os.path.join(folder, "log"), "a", encoding="utf-8") as file:
                file.write(f"{signal.strsignal(-code)}{' (core dumped)' if os.WCOREDUMP(status) else ''}\n")
        code = 128 - code
    with open(os.path.join(folder, "exit"), "w", encoding="ascii") as file:
        file.write(f"{code}\n")
    os._exit(code)


def fork_second(loaded, kit):
    """
    Forks a second process for pyflyte-fast-execute, which fetches code and then starts another entry point with that code on its
    path. The second fork imports flytekit meanwhile, if need be, and waits for that start. Returns the request in the second process.
    """
    request_reader, request_writer = os.pipe()
    reply_reader, reply_writer = os.pipe()
    child = os.fork()
    if child == 0:
        # High descriptor numbers: files opened by modules get the same numbers as in a new process.
        request_reader, reply_writer = (fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 1 << 7) for descriptor in (request_reader, reply_writer))
        if kit:
            kit.close_loops()
        close_all_except(request_reader, reply_writer)
        early = None if kit else load_sibling("speculative_import", preload=preload, recording=recording).SpeculativeImport(loaded)
        with open(request_reader, "rb") as request_stream:
            second_request = json.loads(request_stream.read() or "null")
        if second_request is None or not (early or kit).is_valid(second_request["directory"], second_request["folders"]):
            os._exit(0)
        os.write(reply_writer, b"y")
        os.close(reply_writer)
        return {**second_request, "variables": early.variables if early else {}}
    os.close(request_reader)
    os.close(reply_writer)
    start = subprocess.Popen._execute_child
    environment = dict(os.environ)

    def execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *rest):
        try:
            if not isinstance(args, list) or not args or preexec_fn or pass_fds or cwd is not None or env is None or any(rest[2:3]):
                raise ForkDeclined("unsupported arguments of Popen")
            if any(descriptor != -1 for descriptor in rest[3:9]):
                raise ForkDeclined("Popen with pipes")
            script = script_of(args[0], env.get("PATH"))
            if any(env.get(name) != environment.get(name) for name in {*env, *environment} - {"PYTHONPATH"}):
                raise ForkDeclined("the environment differs")
            folders = [path for path in python_path(env.get("PYTHONPATH", "")) if path not in sys.path]
            if "" in env.get("PYTHONPATH", "x").split(os.pathsep):
                raise ForkDeclined("PYTHONPATH contains the working directory")
            loaded.check(env)
            subprocess.Popen._execute_child = start
            second_request = {"script": script, "arguments": args[1:], "environment": dict(env), "directory": os.getcwd(), "folders": folders}
            with open(request_writer, "wb") as request_stream:
                request_stream.write(json.dumps(second_request).encode())
            with open(reply_reader, "rb") as reply_stream:
                if reply_stream.read() != b"y":
                    raise ForkDeclined("a new process would load other modules")
        except (ForkDeclined, BrokenPipeError):  # The second process may have exited during its import.
            start(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *rest)
            return
        self.pid = child
        self._child_created = True

    subprocess.Popen._execute_child = execute_child
    return None


def close_all_except(*kept):
    """Closes all descriptors except these and the standard ones."""
    begin = 3
    for descriptor in sorted(kept):
        os.closerange(begin, descriptor)
        begin = descriptor + 1
    os.closerange(begin, 1 << 16)


def spawn_successor(loaded, modules, with_flytekit):
    """
    Forks a successor that preloads more modules and flytekit, and then replaces this process, so that no request waits for a slow
    import, and a failed import has no effect: the successor exits. Returns the connection and the pid of the successor in this
    process. In the successor it returns after the takeover, with its end of the connection, the import of flytekit, and the requests
    that this process has read and not served.

    When the successor exits early, this process keeps serving; after a takeover it waits for the successor's exit.
    """
    here, there = socket.socketpair()
    parent = os.getpid()
    pid = os.fork()
    if pid != 0:
        there.close()
        return here, pid
    here.close()
    try:
        PR_SET_PDEATHSIG = 1
        libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)
        files = open_files()
        if modules:
            add_modules(loaded, modules)
        kit = import_flytekit(loaded) if with_flytekit else None
        loaded.find_places()
        check_process(files)
        gc.freeze()
        there.sendall(b"r")
        rest = b"".join(iter(lambda: there.recv(65_536), b""))
        send({"replaced": os.getpid()})
        return there, (kit, rest)
    except BaseException as error:
        print(f"{'flytekit and ' if with_flytekit else ''}additional modules are not preloaded: {error!r}", file=sys.stderr, flush=True)
        os._exit(0)


def add_modules(loaded, modules):
    settings = {name: value for name, value in PRELOAD_SETTINGS.items() if name not in os.environ}
    for name, value in settings.items():
        os.putenv(name, value)
    loaded.add(modules, load_sibling("hidden_modules").HiddenModules())
    for name in settings:
        os.unsetenv(name)
    # OpenBLAS stops its threads before a fork and restarts them on demand.
    trial = os.fork()
    if trial == 0:
        os._exit(0)
    os.waitpid(trial, 0)


def import_flytekit(loaded):
    kit = load_sibling("flytekit_import", placeholders=placeholders, preload=preload, recording=recording).FlytekitImport(loaded)
    loaded.stamp_sources()
    return kit


# Connection to the service


def serve():
    """Serves requests until the service closes the connection; returns only in processes of commands, with their script."""
    sys.path[0] = os.path.dirname(sys.executable)
    try:
        files = open_files()
        loaded = preload.Preload(load_sibling("botocore_models").read)
        check_process(files)
    except ForkServerUnavailable as reason:
        send({"unavailable": str(reason)})
        sys.exit(0)
    gc.collect()
    gc.freeze()
    send({"ready": True})
    modules = sys.argv[1:]
    # Without flytekit for containers with settings of their own; then, if it cannot be imported here.
    attempts = [False] if modules[:1] == [WITHOUT_FLYTEKIT] else [True, *([False] if modules else [])]
    modules = [name for name in modules if name != WITHOUT_FLYTEKIT]
    rest, kit, other, successor = b"", None, None, None
    woken, wake = notice_children()
    runners = {}
    wait_until = None  # Set by the first request that waits for the successor.
    while True:
        if successor is None and attempts and (modules or attempts[0]):
            other, successor = spawn_successor(loaded, modules, attempts.pop(0))
            if isinstance(successor, tuple):
                (kit, rest), attempts, runners, successor, wait_until = successor, [], {}, None, None
                for descriptor in (woken, wake):
                    os.close(descriptor)
                woken, wake = notice_children()
        wait = None
        lines = []
        if successor and (wait_until is None or time.monotonic() < wait_until):
            wait = wait_until and max(0, wait_until - time.monotonic())
        else:
            *lines, rest = rest.split(b"\n")
        for line in lines:
            request = json.loads(line)
            try:
                environment = request["environment"]
                request["script"] = script_of(request["command"][0], environment.get("PATH"))
                loaded.check(environment)
                if kit:
                    kit.check(environment, request["directory"])
                if loaded.places is None:
                    loaded.find_places()
                    gc.freeze()
            except (ForkDeclined, placeholders.UnsupportedPlace, OSError) as reason:
                stale = {"stale": True} if isinstance(reason, preload.PreloadOutdated) else {}
                send({"id": request["id"], "declined": str(reason), "withFlytekit": kit is not None, **stale})
                continue
            claims, request["claimed"] = os.pipe()
            request["parent"] = os.getpid()
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for descriptor in (CONTROL, claims, woken, wake, *([other.detach()] if other else [])):
                    os.close(descriptor)
                run_as(request)
                become(loaded, kit, request["script"], request["command"][1:], environment)
                if os.path.basename(request["script"]) == "pyflyte-fast-execute":
                    second = fork_second(loaded, kit)
                    if second is not None:
                        become(loaded, kit, second["script"], second["arguments"], second["environment"])
                        os.environ.update(second["variables"])
                        return second["script"]
                return request["script"]
            os.close(request["claimed"])
            claim = os.read(claims, 1)
            os.close(claims)
            if claim == b"s":
                runners[pid] = request["id"]
                send({"id": request["id"], "started": pid})
            else:
                os.waitpid(pid, 0)
                send({"id": request["id"], "taken": True} if claim == b"t" else {"id": request["id"], "declined": "the runner could not be started"})
        watched = [woken, CONTROL, *([other] if successor else [])]
        ready, _, _ = select.select(watched, [], [], wait)
        if woken in ready:
            os.read(woken, 4096)
            for pid in list(runners):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended != 0:
                    send({"id": runners.pop(pid), "ended": os.waitstatus_to_exitcode(status)})
        if other in ready:
            if other.recv(1) == b"r":
                other.sendall(rest)
                other.shutdown(socket.SHUT_WR)
                # The successor has a copy of this process's memory.
                wait_children = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wait_children.py")
                os.execv(sys.executable, [sys.executable, "-I", "-S", wait_children, json.dumps([CONTROL, successor, runners])])
            end_successor(successor)
            other.close()
            other = successor = None
        if CONTROL not in ready:
            continue
        data = os.read(CONTROL, 1 << 20)
        if data == b"":
            if successor:
                end_successor(successor)
            os._exit(0)
        rest += data
        if successor and wait_until is None:
            wait_until = time.monotonic() + SUCCESSOR_WAIT


def end_successor(pid):
    """Ends a successor that does not take over, and removes the folders of an import that it has not finished."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    for name in ("PWD", "TMPDIR"):
        shutil.rmtree(placeholders.PLACEHOLDERS[name], ignore_errors=True)


def notice_children():
    """Returns a pipe, as two descriptors, which can be read once a child has ended."""
    woken, wake = os.pipe()
    for descriptor in (woken, wake):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    return woken, wake


def send(message):
    data = json.dumps(message).encode() + b"\n"
    while data:
        try:
            data = data[os.write(CONTROL, data) :]
        except BrokenPipeError:
            os._exit(0)


def main_module(script):
    """Creates the __main__ module of a script."""
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    module = types.ModuleType("__main__")
    module.__dict__.update(
        __file__=script, __builtins__=sys.modules["builtins"], __cached__=None, __loader__=importlib.machinery.SourceFileLoader("__main__", script)
    )
    if "__annotations__" in globals():
        module.__dict__["__annotations__"] = {}
    sys.modules["__main__"] = module
    return code, module.__dict__


if __name__ == "__main__":
    try:
        exec(*main_module(serve()))
    except SystemExit as ending:
        exit_process(ending.code)
    except Exception as error:
        # Omits the frame above, as if the script ran alone.
        for stream in (sys.stderr, sys.stdout):
            stream.flush()
        error.__traceback__ = error.__traceback__.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        exit_process(1)
    exit_process(0)
