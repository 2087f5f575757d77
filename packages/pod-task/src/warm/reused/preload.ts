import { HIDDEN_MODULES } from "./hidden-modules.js";

/**
 * Python classes by which the supervisor of a reused pod learns what attempts import, and forks
 * attempts from a process that has loaded it.
 *
 * The process loads modules of the image alone, one after the other, while no attempt runs. They
 * stay hidden until an attempt imports them. A module is refused that is not as the image has it,
 * fails, writes, starts threads or processes, leaves files open, uses flytekit, or lets the pod
 * have more than half of its memory.
 */
export const PRELOAD = `import importlib, socket, warnings

MOST_MODULES, LONGEST_MODULE, LONGEST_REPORT = 32, 100, 1 << 14
# Starts of the process in the life of a pod; seconds for one module, and for the answer to an attempt.
MOST_STARTS, LOADING, ANSWER = 12, 60, 1
DEATH_SIGNAL, NAME = 1, 15
# Settings of C code while modules are loaded: Arrow's jemalloc would start a thread for an allocator that is not used.
SETTINGS = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
# Processes that outlive attempts.
kept = set()


${HIDDEN_MODULES}

def module_names(value):
    """Names of modules among what another process has sent."""
    names = value if isinstance(value, list) else []
    valid = [name for name in names if isinstance(name, str) and len(name) <= LONGEST_MODULE and name.isascii() and all(map(str.isidentifier, name.split(".")))]
    return list(dict.fromkeys(valid))[:MOST_MODULES]


def can_follow_processes():
    with contextlib.suppress(AttributeError, OSError):
        os.close(os.pidfd_open(os.getpid()))
        return hasattr(socket, "send_fds")
    return False


def package_folders():
    return tuple(os.path.join(path, "") for path in sys.path if os.path.basename(path.rstrip("/")) in ("site-packages", "dist-packages"))


class RootImports:
    """First finder of an attempt's process. It finds nothing, and notes which installed modules the program imports, without what those import."""

    def __init__(self, report, known):
        self.report, self.known, self.names, self.folders = report, known, {}, package_folders()
        os.set_blocking(report, False)
        sys.meta_path.insert(0, self)
        LAST.append(self.tell)

    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(self.folders):
                return None
            frame = frame.f_back
        if len(self.names) < 10 * MOST_MODULES:
            self.names[name] = None

    def is_installed(self, name):
        origin = getattr(getattr(sys.modules.get(name), "__spec__", None), "origin", None)
        return name.partition(".")[0] not in self.known and isinstance(origin, str) and origin.startswith(self.folders)

    def tell(self):
        names = module_names([name for name in self.names if self.is_installed(name)])
        if names:
            os.write(self.report, json.dumps(names).encode() + b"\\n")


def reported(pipe):
    """Names of modules that the processes of an attempt have reported."""
    names = []
    # Whatever a user's process wrote.
    with contextlib.suppress(Exception):
        os.set_blocking(pipe, False)
        for line in os.read(pipe, LONGEST_REPORT).splitlines():
            names += module_names(json.loads(line))
    os.close(pipe)
    return module_names(names)


class Image:
    """Finder that lets only files be loaded that have not changed since the supervisor started."""

    def __init__(self, since):
        self.since = since

    def is_new(self, path):
        with contextlib.suppress(OSError):
            return os.lstat(path).st_ctime_ns >= self.since
        return False

    def find_spec(self, name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None:
            return None
        if self.is_new(spec.origin):
            raise ImportError(f"{spec.origin} is not the image's")
        # An attempt may have compiled it.
        if spec.cached is not None and self.is_new(spec.cached):
            spec.loader = FromSource(spec.loader.name, spec.loader.path)
            return spec
        return None


class FromSource(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        return self.source_to_code(self.get_data(self.path), self.path)


def memory_limit():
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            with open(path) as file:
                return int(file.read())
    return 1 << 62


def process_state():
    """What a module must not change when it is loaded."""
    logging = sys.modules.get("logging")
    return (
        {number: os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{number}")},
        [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGALRM)],
        (sys.excepthook, sys.displayhook, list(sys.path), len(sys.meta_path), sorted(vars(builtins)), os.readlink("/proc/self/cwd"), os.umask(os.umask(0o22))),
        logging and (logging.root.level, list(logging.root.handlers), logging.getLoggerClass()),
    )


def has_threads():
    if len(os.listdir("/proc/self/task")) > 1:
        # OpenBLAS ends its threads before a fork, and starts them when it needs them.
        trial = os.fork()
        if trial == 0:
            os._exit(0)
        os.waitpid(trial, 0)
    for _ in range(20):
        if len(os.listdir("/proc/self/task")) == 1:
            return threading.active_count() > 1
        time.sleep(0.01)
    return True


def uses_flytekit(module):
    """True for a module that may register with flytekit, which is loaded."""
    names = [getattr(value, "__name__" if isinstance(value, types.ModuleType) else "__module__", None) for value in list(vars(module).values())]
    return any(isinstance(name, str) and name.startswith("flytekit") for name in names)


class Preloaded:
    """The process from which attempts are forked."""

    def __init__(self, names, supervisor):
        self.names, self.current, self.is_stopped = names, names[0], False
        # Memory that the process has taken, without that of attempts during which it was stopped.
        self.growth, self.before = 0, memory_in_use()
        self.since, self.rest = time.monotonic(), b""
        self.socket, other = socket.socketpair()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            with contextlib.suppress(BaseException):
                control(DEATH_SIGNAL, signal.SIGKILL)
                self.socket.close()
                os.close(supervisor.log.descriptor)
                supervisor.preload.close()
                # Modules get the same numbers for their files as in a new process.
                self.socket = socket.socket(fileno=set_aside(other.detach()))
                if os.getppid() == parent:
                    self.serve(supervisor, parent)
            os._exit(0)
        other.close()
        kept.add(self.pid)
        self.process = os.pidfd_open(self.pid)

    def is_gone(self):
        return bool(select.select([self.process], [], [], 0)[0])

    def close(self):
        self.socket.close()
        os.close(self.process)

    def end(self):
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.process, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        kept.discard(self.pid)
        self.close()

    def stop(self, is_stopped):
        if self.is_stopped != is_stopped:
            self.is_stopped, self.since = is_stopped, time.monotonic()
            self.measure(is_stopped)
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self.process, signal.SIGSTOP if is_stopped else signal.SIGCONT)

    def measure(self, grew):
        now = memory_in_use()
        self.growth += now - self.before if grew else 0
        self.before = now

    def progress(self):
        """Follows the loading. Returns True once all is loaded, and False when the current module failed."""
        if select.select([self.socket], [], [], 0)[0]:
            data = self.socket.recv(1 << 16)
            *lines, self.rest = (self.rest + data).split(b"\\n")
            for line in map(bytes.decode, lines):
                if line == "ready.":
                    self.measure(True)
                    return True
                self.current, self.since = line, time.monotonic()
            if not data:
                return False
        return False if time.monotonic() > self.since + LOADING else None

    def start(self, assigned, pipes):
        """Starts an attempt in a fork. Returns its process; None when the attempt has not started and will not."""
        proceed, go = os.pipe()
        try:
            data = json.dumps(assigned).encode()
            self.socket.settimeout(ANSWER)
            socket.send_fds(self.socket, [len(data).to_bytes(8, "big")], [*pipes, proceed])
            self.socket.sendall(data)
            pid = int(self.socket.recv(32))
            if pid in children():
                os.write(go, b"g")
                return pid
        except (OSError, ValueError):
            pass
        finally:
            os.close(proceed)
            os.close(go)
        return None

    # The rest runs in the process itself.

    def serve(self, supervisor, parent):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with open("/proc/self/comm", "rb") as file:
            name = file.read().strip()
        self.load(supervisor)
        control(NAME, b"preloaded")
        self.socket.sendall(b"ready.\\n")
        while True:
            head, pipes, _, _ = socket.recv_fds(self.socket, 8, 4)
            if len(head) < 8:
                os._exit(0)
            data = b""
            while len(data) < int.from_bytes(head, "big"):
                data += self.socket.recv(1 << 16) or os._exit(0)
            told, tell = os.pipe()
            between = os.fork()
            if between == 0:
                attempt = os.fork()
                if attempt:
                    os.write(tell, str(attempt).encode())
                    os._exit(0)
                for descriptor in (told, tell, self.socket.detach()):
                    os.close(descriptor)
                *pipes, proceed = pipes
                control(NAME, name)
                if os.read(proceed, 1) == b"g":
                    os.close(proceed)
                    supervisor.begin(json.loads(data), *pipes)
                os._exit(0)
            # Afterwards the attempt is a child of the supervisor.
            os.waitpid(between, 0)
            attempt = os.read(told, 32)
            # Before the attempt starts: it may stop this process.
            for descriptor in (told, tell, *pipes):
                os.close(descriptor)
            self.socket.sendall(attempt)

    def load(self, supervisor):
        loaded, path, errors = supervisor.loaded, list(sys.path), []
        hidden = supervisor.hidden = loaded.hidden = HiddenModules()
        output = os.memfd_create("output")
        for stream in (1, 2):
            os.dup2(output, stream)
        own = tuple(os.path.join(folder, "") for folder in (supervisor.folders.base if supervisor.folders else "/", supervisor.directory) if folder != "/")
        sys.path[:] = [entry for entry in path if entry and not os.path.join(entry, "").startswith(own)]
        folders, image = package_folders(), Image(supervisor.born)
        sys.meta_path[:0] = hidden, image

        def import_module(name):
            try:
                importlib.import_module(name)
            except BaseException as error:
                errors.append(error)
                raise

        # The working folder of attempts is emptied between them, so that this process cannot be in it.
        directory, os.getcwd = os.getcwd, lambda: loaded.directory
        settings = [(name, value) for name, value in SETTINGS.items() if name not in os.environ]
        for name, value in settings:
            os.putenv(name, value)
        with loaded.recording():
            before = process_state()
            for name in self.names:
                self.socket.sendall(name.encode() + b"\\n")
                found = hidden.modules()
                top = importlib.machinery.PathFinder.find_spec(name.partition(".")[0])
                if top is None or not str(top.origin).startswith(folders):
                    os._exit(1)
                hidden.load(name, import_module)
                for stream in (sys.stdout, sys.stderr):
                    stream.flush()
                if errors or os.fstat(output).st_size or has_threads() or children() or process_state() != before:
                    os._exit(1)
                added = [module for other, module in hidden.modules().items() if other not in found]
                if any(map(uses_flytekit, added)) or memory_in_use() > memory_limit() // 2 or stores_placeholder():
                    os._exit(1)
                # The next one is searched alone.
                gc.freeze()
        for name, _ in settings:
            os.unsetenv(name)
        sys.meta_path.remove(image)
        sys.path[:], os.getcwd = path, directory
        loaded.places = [(directory_of(file), file) for file in loaded.files]
        os.close(output)


class Preload:
    """Keeps the process from which attempts are forked: starts it while no attempt runs."""

    def __init__(self, supervisor, file):
        self.supervisor, self.file, self.seen = supervisor, file, ()
        self.wanted, self.refused, self.known = [], [], []
        self.ready = self.loading = None
        self.starts = 0

    def step(self):
        self.read()
        if self.ready is not None and self.ready.is_gone():
            self.drop()
        if self.loading is not None:
            self.loading.stop(False)
            self.follow()
            return
        names = [name for name in self.wanted if name not in self.refused]
        if names and self.starts < MOST_STARTS and not (self.ready and set(names) <= set(self.ready.names)):
            self.starts += 1
            # Both would need memory at once.
            self.drop()
            with contextlib.suppress(OSError):
                self.loading = Preloaded(names, self.supervisor)

    def follow(self):
        done = self.loading.progress()
        # A module may have left processes that have no parent.
        if done and not children():
            self.ready, self.loading = self.loading, None
        elif done is not None:
            self.refused.append(self.loading.current)
            self.loading.end()
            self.loading = None
            end_processes()

    def read(self):
        now = stamp(self.file)
        if now == self.seen:
            return
        self.seen = now
        with contextlib.suppress(OSError, ValueError, AttributeError):
            with open(self.file) as content:
                listed = json.loads(content.read() or "{}")
            self.wanted, self.known = module_names(listed.get("load")), module_names(listed.get("refuse"))
            self.refused += [name for name in self.known if name not in self.refused]

    def drop(self):
        if self.ready is not None:
            self.ready.end()
            self.ready = None

    def memory(self):
        """Memory that the processes have, while none loads."""
        return sum(each.growth for each in (self.ready, self.loading) if each is not None)

    def close(self):
        """Closes, in a fork, what leads to the other processes."""
        for each in (self.ready, self.loading):
            if each is not None:
                each.close()

    def pause(self):
        """Lets the attempt that starts now have the processors."""
        if self.loading is not None:
            self.follow()
        if self.loading is not None:
            self.loading.stop(True)

    def start(self, assigned, pipes):
        """Starts an attempt with the modules that are loaded; None where it has to start without."""
        pid = None
        if self.ready is not None:
            with contextlib.suppress(OSError):
                if own_settings(self.ready.pid) == self.supervisor.settings and not self.ready.is_gone():
                    pid = self.ready.start(assigned, pipes)
            if pid is None:
                self.drop()
        return pid

    def told(self, names):
        """What the end of an attempt tells: modules that it imported, and modules that cannot be loaded ahead."""
        imports = [name for name in names if name not in self.wanted and name not in self.refused]
        refused = module_names([name for name in self.refused if name not in self.known])
        return {**({"imports": imports} if imports else {}), **({"refused": refused} if refused else {})}
`;
