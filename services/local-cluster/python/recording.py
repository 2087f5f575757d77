"""Records which files and folders a program accesses."""

import builtins
import contextlib
import functools
import io
import os


class AccessRecorder:
    """Files and folders that were accessed, by path, with their stamps before."""

    def __init__(self, stamp):
        self.accessed = {}
        self._stamp = stamp
        self._done = False
        self._directory = None

    @contextlib.contextmanager
    def recording(self):
        self._directory = os.getcwd()
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
            self._done = True
            for (module, name), function in zip(patched, before):
                for supported in support_sets:
                    supported.discard(getattr(module, name))
                setattr(module, name, function)

    def _recorder_of(self, function):
        @functools.wraps(function)
        def recorder(*args, **kwargs):
            path = args[0] if args else None
            if not self._done and isinstance(path, (str, bytes, os.PathLike)):
                self._record(os.fsdecode(path))
            return function(*args, **kwargs)

        return recorder

    def _record(self, path):
        path = os.path.join(self._directory, path)
        if path not in self.accessed:
            self.accessed[path] = None  # The stamp itself accesses the path.
            self.accessed[path] = self._stamp(path)
