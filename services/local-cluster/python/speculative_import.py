"""Imports flytekit before the code to run is known, and checks afterwards whether the import would give the same result now."""

import builtins
import contextlib
import functools
import importlib
import io
import os

#: First import of both entry points that run code.
ENTRY = "flytekit.bin.entrypoint"


class SpeculativeImport:
    """An import that was done before the code was fetched."""

    def __init__(self, loaded, stamp):
        self._loaded = loaded
        self._stamp = stamp
        self._accessed = {}
        self._recording_done = False
        self._directory = os.getcwd()
        environment = dict(os.environ)
        self._failed = True
        with loaded.recording(), self._recording(), contextlib.suppress(Exception, SystemExit):
            importlib.import_module(ENTRY)
            self._failed = not environment.keys() <= os.environ.keys()
        #: Environment variables that modules have set.
        self.variables = {key: value for key, value in os.environ.items() if environment.get(key) != value}

    def is_valid(self, directory, folders):
        """Checks that a process starting now in this directory, with these additional folders on its path, would load the same."""
        if self._failed or directory != self._directory or "PYTHONPATH" in self._loaded.read or self._loaded.shadowed(folders) is not None:
            return False
        places = tuple(os.path.join(os.path.realpath(folder), "") for folder in [directory, *folders])
        seen = {path: before for path, before in self._accessed.items() if os.path.join(os.path.realpath(path), "").startswith(places)}
        return all(self._stamp(path) == before for path, before in seen.items())

    @contextlib.contextmanager
    def _recording(self):
        """Records which files and folders the import accesses."""
        patched = [(os, name) for name in ("stat", "lstat", "listdir", "scandir", "access", "open")] + [(io, "open"), (builtins, "open")]
        before = [getattr(module, name) for module, name in patched]
        # Modules test by identity which options a function supports.
        support_sets = (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks)
        for (module, name), function in zip(patched, before):
            recorder = self._recorder_of(function)
            setattr(module, name, recorder)
            for supported in support_sets:
                supported.update({recorder} if function in supported else ())
        try:
            yield
        finally:
            self._recording_done = True
            for (module, name), function in zip(patched, before):
                for supported in support_sets:
                    supported.discard(getattr(module, name))
                setattr(module, name, function)

    def _recorder_of(self, function):
        @functools.wraps(function)
        def recorder(*args, **kwargs):
            path = args[0] if args else None
            if not self._recording_done and isinstance(path, (str, bytes, os.PathLike)):
                self._record(os.fsdecode(path))
            return function(*args, **kwargs)

        return recorder

    def _record(self, path):
        path = os.path.join(self._directory, path)
        if path not in self._accessed:
            self._accessed[path] = None  # The stamp itself accesses the path.
            self._accessed[path] = self._stamp(path)

