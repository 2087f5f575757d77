"""
The import of flytekit before a fork.

flytekit reads settings and creates folders at import, and each container has its own. Here the variables of containers are
placeholders, which are replaced in the fork. A container for which the import would give something else is declined.

The names `placeholders`, `preload` and `recording` are given by the program that loads this module.
"""

import asyncio
import gc
import importlib
import os
import shutil
import signal
import stat
import sys

#: First import of all entry points.
ENTRY = "flytekit.bin.entrypoint"
#: Folders that exist during the import: flytekit looks for settings in the working folder and creates its own in the other.
WORK, TEMPORARY = (placeholders.PLACEHOLDERS[name] for name in ("PWD", "TMPDIR"))


class FlytekitImport:
    """The import, with its effects on the process. Its failure is an exception of any kind."""

    def __init__(self, loaded):
        self._loaded = loaded
        before, signals = dict(os.environ), handlers()
        directory, arguments = os.getcwd(), sys.argv
        recorder = recording.AccessRecorder(lambda path: None)
        for folder in (WORK, TEMPORARY):
            os.mkdir(folder, 0o700)
        try:
            os.chdir(WORK)
            sys.argv = [ENTRY]
            with loaded.recording(), recorder.recording():
                importlib.import_module(ENTRY)
            if os.listdir(WORK):
                raise preload.ForkServerUnavailable("flytekit creates files in the working folder")
            #: Folders that were created, relative to that of temporary files, with their modes.
            self.folders = [*created_folders()]
        finally:
            sys.argv = arguments
            os.chdir(directory)
            for folder in (WORK, TEMPORARY):
                shutil.rmtree(folder)
        if not before.keys() <= os.environ.keys():
            raise preload.ForkServerUnavailable("flytekit removes variables")
        #: Environment variables that modules have set.
        self.variables = {name: value for name, value in os.environ.items() if before.get(name) != value}
        self.handlers = {number: handler for number, handler in handlers().items() if handler != signals[number]}
        #: Event loops, whose descriptors processes must not share.
        self.loops = [each for each in gc.get_objects() if type(each) is asyncio.SelectorEventLoop]
        self.close_loops()
        #: Files in folders of the container that the import has not found.
        self.absent = sorted(path for path in recorder.accessed if is_containers(path) and path != WORK)
        for name, value in before.items():
            os.environ[name] = value
        for name in self.variables.keys() - before.keys():
            del os.environ[name]

    def check(self, environment, directory):
        """Raises ForkDeclined unless an import in this environment and working directory would give the same."""
        folders = {"HOME": environment.get("HOME", ""), "PWD": directory}
        for path in self.absent:
            for name, folder in folders.items():
                path = path.replace(placeholders.PLACEHOLDERS[name], folder)
            if os.path.lexists(path):
                raise preload.ForkDeclined(f"flytekit reads {path} at import")
        folder = self._loaded.shadowed(preload.python_path(environment.get("PYTHONPATH", "")))
        if folder is not None:
            raise preload.ForkDeclined(f"{folder} may replace a module of flytekit")

    def is_valid(self, directory, folders):
        """Checks that a process starting now in this directory, with these additional folders on its path, would load the same."""
        if directory != os.getcwd() or "PYTHONPATH" in self._loaded.read or self._loaded.shadowed(folders) is not None:
            return False
        try:
            self.check({"HOME": os.environ.get("HOME", "")}, directory)
        except preload.ForkDeclined:
            return False
        return True

    def close_loops(self):
        """Closes the descriptors of event loops in this process. Call it in each fork that calls repeat_effects again."""
        for loop in self.loops:
            for each in (loop._selector, loop._ssock, loop._csock):
                each.close()

    def repeat_effects(self):
        """Repeats, in the process of a container, the effects of the import outside of modules."""
        temporary = os.environ["TMPDIR"]
        for folder, mode in self.folders:
            os.makedirs(os.path.join(temporary, folder), mode, exist_ok=True)
        for loop in self.loops:
            loop.__init__()
        for number, handler in self.handlers.items():
            signal.signal(number, handler)
        os.environ.update({name: placeholders.replace_placeholders(value) for name, value in self.variables.items()})


def handlers():
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def is_containers(path):
    return placeholders.MARK in path and not path.startswith(TEMPORARY)


def created_folders():
    for folder, folders, files in os.walk(TEMPORARY):
        if files:
            raise preload.ForkServerUnavailable(f"flytekit creates {files[0]} at import")
        for name in folders:
            path = os.path.join(folder, name)
            yield os.path.relpath(path, TEMPORARY), stat.S_IMODE(os.stat(path).st_mode)
