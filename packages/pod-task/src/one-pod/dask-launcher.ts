/**
 * Python program that runs a command beside a Dask scheduler and workers, and ends with its exit
 * status. Arguments: number of workers, threads of each, timeout of the start in seconds, command.
 *
 * Scheduler and workers listen on free ports of loopback. A signal, or the end of one of them,
 * stops all.
 */
export const DASK_LAUNCHER = `import contextlib, importlib.util, json, os, signal, subprocess, sys, tempfile, time

workers, threads, timeout, command = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4:]
cluster, tasks = {}, []
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def fail(text):
    sys.exit(f"flyte-ts: {text}")


@contextlib.contextmanager
def deferring_signals():
    """Delivers a signal after the block, when the process that was started in it is known and can be stopped."""
    received = []
    for number in SIGNALS:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        handle_signals()
        if received:
            end(received[0], None)


def handle_signals():
    for number in SIGNALS:
        signal.signal(number, end)


def start_dask(name, *arguments):
    dask = [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"]
    # Their progress would hide the output of the task.
    with deferring_signals():
        cluster[name] = subprocess.Popen(dask, env={"DASK_LOGGING__DISTRIBUTED": "warning", **os.environ})


def end(received, _):
    # Another signal would leave processes behind.
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + received)


def wait(ready, what):
    end = time.monotonic() + timeout
    while not (found := ready()):
        check_cluster()
        if time.monotonic() > end:
            fail(f"{what} did not start within {timeout:.0f} s")
        time.sleep(0.1)
    return found


def check_cluster():
    for name, process in cluster.items():
        if process.poll() is not None:
            fail(f"the Dask {name} ended with exit status {process.returncode}; its output is in the log")


def stop(processes):
    for process in processes:
        if process.poll() is None:
            process.terminate()
    end = time.monotonic() + 5
    for process in processes:
        try:
            process.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def address(file):
    try:
        with open(file) as content:
            return json.load(content)["address"]
    except (OSError, ValueError, KeyError):
        return None


def run(folder):
    file = os.path.join(folder, "scheduler.json")
    start_dask("scheduler", "scheduler", "--port", "0", "--scheduler-file", file)
    scheduler = wait(lambda: address(file), "the Dask scheduler")
    for number in range(1, workers + 1):
        start_dask(f"worker {number}", "worker", scheduler, "--no-nanny", "--nthreads", threads, "--local-directory", folder)
    from distributed import Client

    with Client(scheduler, timeout=timeout) as client:
        wait(lambda: len(client.nthreads()) >= workers, f"{workers} Dask workers")
    with deferring_signals():
        task = subprocess.Popen(command, env={**os.environ, "DASK_SCHEDULER_ADDRESS": scheduler})
        tasks.append(task)
    while task.poll() is None:
        check_cluster()
        time.sleep(0.1)
    return task.returncode if task.returncode >= 0 else 128 - task.returncode


if importlib.util.find_spec("distributed") is None or importlib.util.find_spec("dask") is None:
    fail("the Python of this task has no Dask: install flytekitplugins-dask, on the local stack with: npx flyte-ts python install --extra dask")
handle_signals()
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    try:
        status = run(folder)
    finally:
        stop(tasks)
        # Workers report the loss of their scheduler.
        processes = list(cluster.values())
        stop(processes[1:])
        stop(processes[:1])
sys.exit(status)
`;
