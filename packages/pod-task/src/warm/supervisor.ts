import { PREPARED_INTERPRETER } from "./prepared-interpreter.js";

/**
 * Python program that a warm pod runs until an attempt takes the pod, and that then becomes the
 * attempt's process. Arguments: entry point of flytekit, names of the attempt's variables, file of
 * the assignment, maximum wait in seconds. Needs the standard library alone.
 *
 * It imports flytekit with placeholders for the attempt's variables, waits until the file has
 * content, and runs the assigned command in the same interpreter. `pyflyte-fast-execute` starts a
 * second process: that one is started ahead as well. A command that could behave differently than
 * in a new interpreter starts one instead: the command is another, a module stores a placeholder,
 * the environment differs in other variables, or the attempt's code would replace a module that is
 * loaded.
 *
 * The exit code for a wait without an attempt is `WARM_IDLE_EXIT_CODE`.
 */
export const WARM_SUPERVISOR = `${PREPARED_INTERPRETER}

def serve_second(script):
    """Imports flytekit, waits for the command of the first process, and runs it if that gives the same as a new process."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.dup(1)
    # Later files get the same numbers as in a new process.
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(int(sys.argv[3]), 1)
    os.close(int(sys.argv[3]))
    sys.path[:] = [*own_path(script), *(sys.path if getattr(sys.flags, "safe_path", False) else sys.path[1:])]
    loaded = Import()
    loaded.finish(dict(os.environ))
    run_requested(loaded, requests, replies)


def start_second(script):
    output = os.dup(1)
    os.set_inheritable(output, True)
    try:
        command = [sys.executable, "-c", SOURCE, script, SECOND, str(output)]
        second = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, pass_fds=[output])
        for name, mode in (("stdin", "wb"), ("stdout", "rb")):
            pipe = getattr(second, name)
            setattr(second, name, os.fdopen(set_aside(os.dup(pipe.fileno())), mode, buffering=0))
            pipe.close()
        return second
    finally:
        os.close(output)


def await_assignment(file, end):
    while True:
        with contextlib.suppress(OSError):
            if os.stat(file).st_size > 0:
                with open(file) as content:
                    return json.load(content)
        if time.monotonic() > end:
            end_idle()
        time.sleep(0.02)


def serve(entry, names, file, wait):
    end = time.monotonic() + wait
    signal.signal(signal.SIGTERM, end_idle)
    script = script_of(entry, os.environ.get("PATH"))
    interpreter = script and interpreter_of(script)
    # Once only: an interpreter may name itself by another path.
    if interpreter and interpreter != sys.executable and shutil.which(interpreter) and not sys.argv[5:]:
        os.execv(interpreter, [interpreter, "-c", SOURCE, entry, ",".join(names), file, str(wait), "chosen"])
    start, loaded, second = dict(os.environ), None, None
    if interpreter == sys.executable:
        os.environ.update({name: f"{MARK}{number}" for number, name in enumerate(names)})
        sys.path[:] = [*own_path(script), *(sys.path if getattr(sys.flags, "safe_path", False) else sys.path[1:])]
        second = start_second(script) if os.path.basename(script) == "pyflyte-fast-execute" else None
        # The command tells an error of the import once it runs.
        with contextlib.suppress(Exception):
            loaded = Import()
            loaded.finish({**start, **{name: os.environ.get(name) for name in names}})
    assigned = await_assignment(file, end)
    command, variables = assigned["command"], assigned["env"]
    environment = {**start, **variables}
    if loaded is not None and script_of(command[0], environment.get("PATH")) == script:
        # The import of a new interpreter sets these too.
        known = {**environment, **loaded.variables}
        if loaded.holds_for(known, set(variables)) and set(variables) == set(names) and loaded.holds_in([]):
            if second is not None:
                hand_over_second(second, variables.keys())
            run(script, command[1:], known, list(sys.path))
    if second is not None:
        second.stdin.close()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.execvpe(command[0], command, environment)


with open("/proc/self/cmdline", "rb") as line:
    words = line.read().split(b"\\0")
SOURCE = os.fsdecode(words[words.index(b"-c") + 1])
if sys.argv[2] == SECOND:
    serve_second(sys.argv[1])
else:
    serve(sys.argv[1], [name for name in sys.argv[2].split(",") if name], sys.argv[3], float(sys.argv[4]))
`;

/** Exit code of the supervisor when it ends without an attempt (`EX_TEMPFAIL`). */
export const WARM_IDLE_EXIT_CODE = 75;
/** Termination message of the supervisor when it ends without an attempt. */
export const WARM_IDLE_MESSAGE = "the warm pod ended without an attempt";
