"""A Python process that has loaded what flytekit imports, and forks for each container that starts flytekit.

flytekit itself is imported after the fork: it reads its settings and makes its folders as it is imported,
and each container has its own. Before the fork comes only what does not depend on the container: modules of
others, without threads and without open files. What differs all the same is put right in `renew`; a start
that cannot be the same as that of a new process is declined, and made in the ordinary way.

Standard input, output and error are files, as those of a container are. Descriptor 3 is the connection to
the service, one JSON object a line:

    {"ready": true} or {"unusable": reason}
    <- {"id": 1, "run": folder, "command": [...], "environment": {...}, "directory": folder}
    {"id": 1, "started": pid}, {"id": 1, "taken": true} (another runner has this run) or {"id": 1, "declined": reason},
        with "stale": true when what it has loaded has changed on disk, so that a new warm Python would load other code
    {"id": 1, "ended": exit status, negative for a signal}
    {"grown": pid} (another process answers from now on)

Its arguments name further modules. A fork of it loads them while it goes on answering, and takes its place: see `grow`.

A fork is a runner as in container/runner-script.ts: leader of a session, claims the run, waits for its one
child, which is the command, and writes down the exit code. Runners live on when this process ends.
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
RUNNER_NAME = "flyte-ts-runner"
#: Entry points that run in a fork: they hold no code of users and import flytekit first.
COMMANDS = ("pyflyte-execute", "pyflyte-fast-execute", "pyflyte-map-execute")
#: What a shell's trap without action leaves to the commands as it was.
NOTED_SIGNALS = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM")
#: For C code while further modules are loaded: pyarrow's jemalloc would start a thread, for an allocator that is not the one in use.
WITHOUT_THREADS = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}


def beside(name):
    """A module of this folder, which programs do not see."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py")
    module = types.ModuleType(name)
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec"), vars(module))
    return module


memory = beside("loaded")
Declined, Unusable, own = memory.Declined, memory.Unusable, memory.own

libc = ctypes.CDLL(None, use_errno=True)
libc.sbrk.restype = ctypes.c_void_p


def script_of(command, path):
    """The script that a command runs with this very Python, or Declined."""
    if os.path.basename(command) not in COMMANDS:
        raise Declined(f"{command} is no entry point of flytekit")
    script = shutil.which(command, path=path)
    if script is None:
        raise Declined(f"{command} is not there")
    with open(script, "rb") as file:
        source = file.read(65_536)
    if source.partition(b"\n")[0].rstrip() != b"#!" + os.fsencode(sys.executable):
        raise Declined(f"{script} is run by another program")
    return os.path.abspath(script) if os.path.dirname(command) == "" else script


# What /proc shows of a process


class MemoryMap(ctypes.Structure):
    """struct prctl_mm_map"""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in "start_code end_code start_data end_data start_brk brk start_stack arg_start arg_end env_start env_end auxv".split()
    ] + [("auxv_size", ctypes.c_uint32), ("exe_fd", ctypes.c_uint32)]


shown = []


def show(arguments, environment):
    """Puts command line and environment where other processes see them: the service finds what is left of a container by them."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    line = b"".join(os.fsencode(word) + b"\0" for word in arguments)
    variables = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in environment.items())
    area = mmap.mmap(-1, len(line) + len(variables) + 1, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    area.write(line + variables)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    # Positions as in proc(5), which counts from 1 and begins with the two fields that stand before these.
    at = lambda position: int(fields[position - 3])  # noqa: E731
    known = MemoryMap(
        *map(at, (26, 27, 45, 46, 47)), libc.sbrk(0), at(28), start, start + len(line), start + len(line), start + len(line) + len(variables)
    )
    known.exe_fd = 0xFFFFFFFF
    PR_SET_MM, PR_SET_MM_MAP = 35, 14
    if libc.prctl(PR_SET_MM, PR_SET_MM_MAP, ctypes.byref(known), ctypes.c_ulong(ctypes.sizeof(known)), ctypes.c_ulong(0)) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_MM_MAP")
    shown[:] = [area]


def open_files():
    """Descriptors and what they are of, but for the listing itself."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            pass
    return found


def check_process(files):
    """A fork takes one thread along and shares the files that modules have opened."""
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise Unusable(f"{threads} threads run")
    for number, name in open_files().items():
        if number not in files:
            raise Unusable(f"{name} is open")
    site = importlib.import_module("site")
    if site.ENABLE_USER_SITE is True:
        raise Unusable("packages of the home folder are looked at")
    try:
        show(sys.orig_argv, os.environ)
        with open("/proc/self/environ", "rb") as file:
            if file.read().split(b"\0")[:-1] != [os.fsencode(f"{name}={value}") for name, value in os.environ.items()]:
                raise Unusable("the environment is not shown")
    except OSError as error:
        raise Unusable(f"the environment cannot be shown: {error}") from error


# The processes of a container


def become(loaded, script, arguments, environment):
    """Makes this fork look, to itself and to others, like a new process of the script."""
    libc.prctl(15, os.fsencode(os.path.basename(script))[:15], 0, 0, 0)  # PR_SET_NAME
    old_path = os.environ.get("PYTHONPATH", "")
    os.environ.clear()
    os.environ.update(environment)
    if "LC_CTYPE" not in environment and "LC_CTYPE" in loaded.environment:
        os.environ["LC_CTYPE"] = loaded.environment["LC_CTYPE"]  # A Python without a locale gives itself one.
    words = [sys.executable, script, *arguments]
    show(words, environment)
    sys.argv = words[1:]
    sys.orig_argv = words
    own = [] if getattr(sys.flags, "safe_path", False) else [os.path.dirname(os.path.realpath(script))]
    rest = sys.path[len(own) :]
    before = python_path(old_path)
    sys.path[:] = unique([*own, *python_path(environment.get("PYTHONPATH", "")), *(path for path in rest if path not in before)])
    renew(loaded)


def python_path(value):
    return [os.path.abspath(path) for path in value.split(os.pathsep) if path]


def unique(paths):
    return list(dict.fromkeys(paths))


def renew(loaded):
    """What modules hold of their process."""
    for put, value in loaded.kept:
        put(own(value))
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
    # Python's own random numbers begin anew in each fork, those of numpy do not.
    numbers = loaded.modules().get("numpy.random.mtrand")
    if numbers is not None:
        numbers.seed()


def run_as(request):
    """In a fresh fork: a runner that starts the command; returns in the command's process only. Writes to `claimed` once it may be signalled."""
    os.setsid()
    # Whoever ends the parent ends what has not begun.
    PR_SET_PDEATHSIG = 1
    libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != request["parent"]:
        os._exit(125)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    claimed, folder, command, environment = request["claimed"], request["run"], request["command"], request["environment"]
    try:
        os.chdir(request["directory"])
        show([RUNNER_NAME, folder, *command], environment)
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
    for name in NOTED_SIGNALS:
        signal.signal(getattr(signal, name), lambda *_: None)
    libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)
    os.write(claimed, b"s")
    os.close(claimed)
    # Signals that come now are for the command, which has them wait until it has its own answers to them.
    numbers = [getattr(signal, name) for name in NOTED_SIGNALS]
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
            # As the shell puts it, into the log that the command had.
            with open(os.path.join(folder, "log"), "a", encoding="utf-8") as file:
                file.write(f"{signal.strsignal(-code)}{' (core dumped)' if os.WCOREDUMP(status) else ''}\n")
        code = 128 - code
    with open(os.path.join(folder, "exit"), "w", encoding="ascii") as file:
        file.write(f"{code}\n")
    os._exit(code)


def keep_second(loaded):
    """
    pyflyte-fast-execute fetches code and starts another entry point, with that code on its path. A second fork, made before the first
    one imports anything, loads flytekit at the same time and waits for this. Returns the request in the second.
    """
    asked, asking = os.pipe()
    answered, answering = os.pipe()
    child = os.fork()
    if child == 0:
        # Out of the way of the files that modules open: those get the numbers that they have in a new process.
        asked, answering = (fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 1 << 7) for descriptor in (asked, answering))
        close_but(asked, answering)
        early = beside("early").Early(loaded, memory.stamp)
        with open(asked, "rb") as questions:
            question = json.loads(questions.read() or "null")
        if question is None or not early.stands(question["directory"], question["folders"]):
            os._exit(0)
        os.write(answering, b"y")
        os.close(answering)
        return {**question, "variables": early.variables}
    os.close(asked)
    os.close(answering)
    start = subprocess.Popen._execute_child
    environment = dict(os.environ)

    def execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *rest):
        try:
            if not isinstance(args, list) or not args or preexec_fn or pass_fds or cwd is not None or env is None or any(rest[2:3]):
                raise Declined("it asks for more")
            if any(descriptor != -1 for descriptor in rest[3:9]):
                raise Declined("it asks for pipes")
            script = script_of(args[0], env.get("PATH"))
            if any(env.get(name) != environment.get(name) for name in {*env, *environment} - {"PYTHONPATH"}):
                raise Declined("its environment is another")
            folders = [path for path in python_path(env.get("PYTHONPATH", "")) if path not in sys.path]
            if "" in env.get("PYTHONPATH", "x").split(os.pathsep):
                raise Declined("its folders are not known")
            loaded.check(env)
            subprocess.Popen._execute_child = start
            question = {"script": script, "arguments": args[1:], "environment": dict(env), "directory": os.getcwd(), "folders": folders}
            with open(asking, "wb") as questions:
                questions.write(json.dumps(question).encode())
            with open(answered, "rb") as answers:
                if answers.read() != b"y":
                    raise Declined("what it has loaded would be another")
        except (Declined, BrokenPipeError):  # The second may have ended as it loaded.
            start(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *rest)
            return
        self.pid = child
        self._child_created = True

    subprocess.Popen._execute_child = execute_child
    return None


def close_but(*kept):
    """All files but those and the standard ones."""
    begin = 3
    for descriptor in sorted(kept):
        os.closerange(begin, descriptor)
        begin = descriptor + 1
    os.closerange(begin, 1 << 16)


def grow(loaded, modules):
    """
    Forks a process that loads more modules and then takes this one's place, so that nobody waits while it loads and nothing
    is lost when they cannot be had: then it ends. In this process returns the connection to it and its pid. In that one it returns
    when it has taken over: its end of the connection, and what was read of the next request.

    Where it ends before, this process goes on alone; one that has taken over is attended until it ends.
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
        settings = {name: value for name, value in WITHOUT_THREADS.items() if name not in os.environ}
        for name, value in settings.items():
            os.putenv(name, value)
        loaded.add(modules, beside("stowed").Stowed())
        for name in settings:
            os.unsetenv(name)
        # OpenBLAS ends its threads before a fork, and starts them again for whoever multiplies.
        trial = os.fork()
        if trial == 0:
            os._exit(0)
        os.waitpid(trial, 0)
        check_process(files)
        gc.collect()
        gc.freeze()
        there.sendall(b"r")
        rest = b"".join(iter(lambda: there.recv(65_536), b""))
        tell({"grown": os.getpid()})
        return there, rest
    except BaseException as error:
        print(f"without further modules: {error!r}", file=sys.stderr, flush=True)
        os._exit(0)


# The service's side


def serve():
    """Answers requests until the service closes the connection; returns in the processes of commands only: what they are to run."""
    sys.path[0] = os.path.dirname(sys.executable)
    try:
        files = open_files()
        loaded = memory.Loaded(beside("models").read)
        check_process(files)
    except Unusable as reason:
        tell({"unusable": str(reason)})
        sys.exit(0)
    gc.collect()
    gc.freeze()
    tell({"ready": True})
    rest, other, heir = b"", None, None
    if sys.argv[1:]:
        other, found = grow(loaded, sys.argv[1:])
        if isinstance(found, bytes):
            rest = found
        else:
            heir = found
    woken, wake = os.pipe()
    for descriptor in (woken, wake):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    runners = {}
    while True:
        watched = [woken, CONTROL, *([other] if heir else [])]
        ready, _, _ = select.select(watched, [], [])
        if woken in ready:
            os.read(woken, 4096)
            for pid in list(runners):
                found, status = os.waitpid(pid, os.WNOHANG)
                if found != 0:
                    tell({"id": runners.pop(pid), "ended": os.waitstatus_to_exitcode(status)})
        if other in ready:
            if other.recv(1) == b"r":
                other.sendall(rest)
                other.shutdown(socket.SHUT_WR)
                # The heir has a copy of what this process holds.
                attend = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attend.py")
                os.execv(sys.executable, [sys.executable, "-I", "-S", attend, json.dumps([CONTROL, heir, runners])])
            os.waitpid(heir, 0)
            other.close()
            other = heir = None
        if CONTROL not in ready:
            continue
        data = os.read(CONTROL, 1 << 20)
        if data == b"":
            os._exit(0)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            try:
                environment = request["environment"]
                request["script"] = script_of(request["command"][0], environment.get("PATH"))
                loaded.check(environment)
            except (Declined, OSError) as reason:
                stale = {"stale": True} if isinstance(reason, memory.Changed) else {}
                tell({"id": request["id"], "declined": str(reason), **stale})
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
                become(loaded, request["script"], request["command"][1:], environment)
                if os.path.basename(request["script"]) == "pyflyte-fast-execute":
                    second = keep_second(loaded)
                    if second is not None:
                        become(loaded, second["script"], second["arguments"], second["environment"])
                        os.environ.update(second["variables"])
                        return second["script"]
                return request["script"]
            os.close(request["claimed"])
            claim = os.read(claims, 1)
            os.close(claims)
            if claim == b"s":
                runners[pid] = request["id"]
                tell({"id": request["id"], "started": pid})
            else:
                os.waitpid(pid, 0)
                tell({"id": request["id"], "taken": True} if claim == b"t" else {"id": request["id"], "declined": "the runner could not begin"})


def tell(message):
    data = json.dumps(message).encode() + b"\n"
    while data:
        try:
            data = data[os.write(CONTROL, data) :]
        except BrokenPipeError:
            os._exit(0)


def main_module(script):
    """The module that a script runs as."""
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
    except Exception as error:
        # Without the line above, as if the script stood alone.
        for stream in (sys.stderr, sys.stdout):
            stream.flush()
        error.__traceback__ = error.__traceback__.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)
