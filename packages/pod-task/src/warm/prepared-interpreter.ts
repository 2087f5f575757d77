/**
 * Python functions of the supervisors of warm pods: they import flytekit with placeholders for the
 * attempt's variables, decide whether a new interpreter would give the same, and run a command of
 * flytekit in the same process. They need the standard library alone.
 */
export const PREPARED_INTERPRETER = `import atexit, contextlib, fcntl, gc, importlib.machinery, io, builtins, functools, json, os, shutil, signal, subprocess, sys, threading, time, types

ENTRY_POINTS = ("pyflyte-execute", "pyflyte-fast-execute", "pyflyte-map-execute")
IDLE = 75
SECOND = "--second"
# Called at the end of a script.
LAST = []
# Event loops without descriptors.
LOOPS = []
# In two parts: the text of this program is in memory too.
MARK = "-".join(("flyte-ts", "placeholder", ""))


def end_idle(*_):
    try:
        with open("/dev/termination-log", "w") as log:
            log.write("the warm pod ended without an attempt")
    except OSError:
        pass
    os._exit(IDLE)


def script_of(command, path):
    script = shutil.which(command, path=path) if os.path.basename(command) in ENTRY_POINTS else None
    return script and os.path.abspath(script)


def interpreter_of(script):
    with open(script, "rb") as file:
        line = file.readline(4096).decode("utf-8", "replace").rstrip()
    words = line[2:].split() if line.startswith("#!") else []
    return words[0] if len(words) == 1 and os.path.basename(words[0]).startswith("python") else None


def stamp(path):
    try:
        status = os.stat(path)
        return status.st_mtime_ns, status.st_size, status.st_ino
    except OSError:
        return None


def directory_of(path):
    """The real path with a separator at its end, which tells a folder from others whose names begin alike."""
    return os.path.join(os.path.realpath(path), "")


def python_path(value):
    return [os.path.abspath(path) for path in value.split(os.pathsep) if path]


def has_placeholder(value):
    if type(value) is str:
        return MARK in value
    if type(value) is bytes:
        return MARK.encode() in value
    # The garbage collector knows no containers of plain values.
    return type(value) in (dict, list, tuple, set, frozenset) and not gc.is_tracked(value) and any(map(has_placeholder, gc.get_referents(value)))


def stores_placeholder():
    gc.collect()
    ignored = {id(os.environ._data), id(globals())}
    holders = [holder for holder in gc.get_objects() if id(holder) not in ignored]
    return any(has_placeholder(part) for holder in holders for part in gc.get_referents(holder) if id(part) not in ignored)


def close_loops():
    """Closes the descriptors of event loops that modules have made, until a script runs: attempts must not share them."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return
    for loop in [each for each in gc.get_objects() if type(each) is asyncio.SelectorEventLoop and not each.is_closed()]:
        for part in (loop._selector, loop._ssock, loop._csock):
            part.close()
        LOOPS.append(loop)


def read_s3_models():
    """Reads the data from which botocore builds clients of S3, if it is loaded. The first session of each fork gets the loader that has read them."""
    session = sys.modules.get("botocore.session")
    if session is None:
        return
    create_loader = session.create_loader
    loader = create_loader()
    reader = session.Session()
    reader.register_component("data_loader", loader)
    reader.create_client("s3", region_name="us-east-1", aws_access_key_id="none", aws_secret_access_key="none")

    @functools.wraps(create_loader)
    def create_first(search_path_string=None):
        session.create_loader = create_loader
        return loader if search_path_string is None else create_loader(search_path_string)

    session.create_loader = create_first


class Import:
    """The import of flytekit, with everything outside of the packages on which its result depends."""

    def __init__(self, others=()):
        self.read, self.missing, self.files = set(), set(), {}
        self.directory = os.getcwd()
        # Modules that programs do not see until they import them.
        self.hidden = None
        with self.recording():
            importlib.import_module("flytekit.bin.entrypoint")
            for name in others:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
            with contextlib.suppress(Exception):
                read_s3_models()
        close_loops()
        self.is_usable = not stores_placeholder()

    def finish(self, before):
        self.environment = dict(os.environ)
        self.variables = {name: value for name, value in self.environment.items() if before.get(name) != value}
        # Thousands of files: their real paths take longer than a light task.
        self.places = [(directory_of(path), path) for path in self.files]

    @contextlib.contextmanager
    def recording(self):
        loaded = self
        copied = iter(())

        class RecordingEnviron(type(os.environ)):
            def __getitem__(self, key):
                nonlocal copied
                # A copy of all variables reads each in turn.
                if next(copied, None) != key:
                    copied = iter(())
                    loaded.read.add(key)
                return super().__getitem__(key)

            def __iter__(self):
                nonlocal copied
                names = list(super().__iter__())
                copied = iter(names)
                return iter(names)

        class MissingModules:
            @staticmethod
            def find_spec(name, path=None, target=None):
                loaded.missing.add(name.partition(".")[0])

        patched = [(os, name) for name in ("stat", "lstat", "listdir", "scandir", "access", "open")] + [(io, "open"), (builtins, "open")]
        originals = [getattr(module, name) for module, name in patched]
        supports = (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks)
        done = False

        def recorder_of(function):
            @functools.wraps(function)
            def recorder(*args, **kwargs):
                path = args[0] if args else None
                if not done and isinstance(path, (str, bytes, os.PathLike)):
                    path = os.path.join(loaded.directory, os.fsdecode(path))
                    if path not in loaded.files:
                        loaded.files[path] = None
                        loaded.files[path] = stamp(path)
                return function(*args, **kwargs)

            return recorder

        kind = type(os.environ)
        os.environ.__class__ = RecordingEnviron
        sys.meta_path.append(MissingModules)
        for (module, name), function in zip(patched, originals):
            recorder = recorder_of(function)
            setattr(module, name, recorder)
            for supported in supports:
                supported.update({recorder} if function in supported else ())
        try:
            yield
        finally:
            done = True
            for (module, name), function in zip(patched, originals):
                for supported in supports:
                    supported.discard(getattr(module, name))
                setattr(module, name, function)
            sys.meta_path.remove(MissingModules)
            os.environ.__class__ = kind

    def holds_for(self, environment, attempt):
        """True when an import with this environment would give the same: it differs in the attempt's variables, which are all set, alone."""
        names = {*environment, *self.environment}
        changed = {name for name in names if environment.get(name) != self.environment.get(name)} - attempt
        may_change = {"PYTHONPATH"} - self.read
        return self.is_usable and changed <= may_change and attempt <= environment.keys() and attempt <= self.environment.keys()

    def holds_in(self, folders):
        """True when an import now, with these further folders on the path, would give the same."""
        modules = [*sys.modules, *(self.hidden.modules() if self.hidden else ())]
        names = {name.partition(".")[0] for name in modules} | self.missing | {"sitecustomize", "usercustomize"}
        for folder in folders:
            try:
                if any(entry.partition(".")[0] in names and entry != "__pycache__" for entry in os.listdir(folder)):
                    return False
            except OSError:
                continue
        places = tuple(directory_of(folder) for folder in [self.directory, *folders])
        # The folders themselves have other files now, whose names are compared above.
        return all(stamp(path) == self.files[path] for place, path in self.places if place.startswith(places) and path not in folders)


def run(script, arguments, environment, path):
    """Runs a script as a new interpreter would. Does not return."""
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:] = path
    sys.argv[:] = [script, *arguments]
    sys.orig_argv = [sys.executable, script, *arguments]
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    for loop in LOOPS:
        loop.__init__()
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    module = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", script)
    module.__dict__.update(__file__=script, __builtins__=builtins, __cached__=None, __loader__=loader)
    sys.modules["__main__"] = module
    try:
        exec(code, module.__dict__)
    except SystemExit as ending:
        leave(ending.code)
    except Exception as error:
        for stream in (sys.stderr, sys.stdout):
            stream.flush()
        error.__traceback__ = error.__traceback__.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        leave(1)
    leave(0)


def leave(status):
    """Ends the process as processes of multiprocessing end: after its threads and exit handlers, but without the teardown of modules, which takes long in a fork."""
    code = 0 if status is None else status if isinstance(status, int) else 1
    if status is not None and not isinstance(status, int):
        print(status, file=sys.stderr)
    for finish in (threading._shutdown, atexit._run_exitfuncs, complete_files, *LAST):
        with contextlib.suppress(BaseException):
            finish()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            code = code or 120
    os._exit(code & 255)


def complete_files():
    """Writes what open files hold back, the outer of nested ones first. Files of a frozen import are not listed."""
    is_file, files = {}, []
    for each in gc.get_objects():
        kind = type(each)
        if kind not in is_file:
            is_file[kind] = issubclass(kind, io.IOBase)
        if is_file[kind]:
            files.append(each)
    buffers = (io.BufferedWriter, io.BufferedRandom, io.BufferedRWPair)
    texts = [each.flush for each in files if isinstance(each, io.TextIOBase)]
    # Compressed files write their last block when they are closed.
    others = [each.close for each in files if isinstance(each, io.BufferedIOBase) and not isinstance(each, (*buffers, io.BufferedReader, io.BytesIO))]
    for complete in (*texts, *others, *(each.flush for each in files if isinstance(each, buffers))):
        with contextlib.suppress(Exception):
            complete()


def own_path(script):
    return [] if getattr(sys.flags, "safe_path", False) else [os.path.dirname(os.path.realpath(script))]


def hand_over_second(second, attempt):
    """Lets the process that was started ahead run the command that pyflyte-fast-execute starts."""
    start = subprocess.Popen._execute_child

    def execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *rest):
        plain = isinstance(args, list) and args and executable is None and not preexec_fn and not pass_fds and cwd is None and env is not None
        if plain and not any(rest[2:3]) and all(descriptor == -1 for descriptor in rest[3:9]):
            script = script_of(args[0], env.get("PATH"))
            folders = [path for path in python_path(env.get("PYTHONPATH", "")) if path not in sys.path]
            relative = "" in env.get("PYTHONPATH", "x").split(os.pathsep)
            # Other commands come first: tar unpacks the code.
            subprocess.Popen._execute_child = start if script else execute_child
            if script and not relative and interpreter_of(script) == sys.executable:
                request = {"script": script, "arguments": args[1:], "environment": dict(env), "directory": os.getcwd()}
                with contextlib.suppress(OSError):
                    second.stdin.write(json.dumps({**request, "folders": folders, "attempt": sorted(attempt)}).encode())
                    second.stdin.close()
                    if second.stdout.read(1) == b"y":
                        self.pid = second.pid
                        self._child_created = True
                        second.returncode = 0
                        second.stdout.close()
                        return
        start(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *rest)

    subprocess.Popen._execute_child = execute_child


def run_requested(loaded, requests, replies, changed=()):
    """Runs the command that hand_over_second of the first process sends, if that gives the same as a new process: also with other files in the changed folders. Does not return."""
    request = json.loads(requests.read() or b"null")
    requests.close()
    if request is None or request["directory"] != loaded.directory or not loaded.holds_for(request["environment"], set(request["attempt"])):
        os._exit(0)
    if not loaded.holds_in([*request["folders"], *changed]):
        os._exit(0)
    before = python_path(os.environ.get("PYTHONPATH", ""))
    own = own_path(request["script"])
    rest = [path for path in sys.path[len(own) :] if path not in before]
    path = list(dict.fromkeys([*own, *python_path(request["environment"].get("PYTHONPATH", "")), *rest]))
    os.write(replies, b"y")
    os.close(replies)
    run(request["script"], request["arguments"], request["environment"], path)


def set_aside(pipe):
    """Gives a pipe a high number: later files get the same ones as in a new process."""
    kept = fcntl.fcntl(pipe, fcntl.F_DUPFD_CLOEXEC, 1 << 7)
    os.close(pipe)
    return kept
`;
