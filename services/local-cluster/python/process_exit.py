"""End of a forked process, as processes of multiprocessing end: after threads and exit handlers, without the teardown of modules.

The teardown writes to pages that a fork shares with its server, and takes a quarter of a second once flytekit is loaded.
"""

import atexit
import gc
import io
import os
import sys
import threading


def exit_process(status):
    """Ends the process with the status of a SystemExit. Does not return."""
    code = 0 if status is None else status if isinstance(status, int) else 1
    if status is not None and not isinstance(status, int):
        print(status, file=sys.stderr)
    for finish in (threading._shutdown, atexit._run_exitfuncs, complete_files):
        try:
            finish()
        except BaseException:
            pass
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            code = code or 120
    os._exit(code & 255)


def complete_files():
    """Writes what open files hold back, the outer of nested ones first. Files of the server are frozen, and not listed."""
    buffers = (io.BufferedWriter, io.BufferedRandom, io.BufferedRWPair)
    files = open_files()
    for each in files:
        if isinstance(each, io.TextIOBase):
            complete(each.flush)
    # Compressed files write their last block when they are closed.
    for each in files:
        if isinstance(each, io.BufferedIOBase) and not isinstance(each, (*buffers, io.BufferedReader, io.BytesIO)):
            complete(each.close)
    for each in files:
        if isinstance(each, buffers):
            complete(each.flush)


def open_files():
    is_file = {}
    found = []
    for each in gc.get_objects():
        kind = type(each)
        if kind not in is_file:
            is_file[kind] = issubclass(kind, io.IOBase)
        if is_file[kind]:
            found.append(each)
    return found


def complete(action):
    try:
        action()
    except Exception:
        pass
