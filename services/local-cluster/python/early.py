"""flytekit, loaded by a process that is not told yet which code it will run: what it looked at meanwhile, and whether that still stands."""

import builtins
import contextlib
import functools
import importlib
import io
import os

#: What both entry points that run code import first.
ENTRY = "flytekit.bin.entrypoint"


class Early:
    """An import before the code has come."""

    def __init__(self, loaded, stamp):
        self._loaded = loaded
        self._stamp = stamp
        self._looked = {}
        self._noted = False
        self._directory = os.getcwd()
        environment = dict(os.environ)
        self._failed = True
        with loaded.noting(), self._noting(), contextlib.suppress(Exception, SystemExit):
            importlib.import_module(ENTRY)
            self._failed = not environment.keys() <= os.environ.keys()
        #: Variables that modules have set.
        self.variables = {key: value for key, value in os.environ.items() if environment.get(key) != value}

    def stands(self, directory, folders):
        """Whether a process that starts in the directory now, with these further folders on its path, would have loaded the same."""
        if self._failed or directory != self._directory or "PYTHONPATH" in self._loaded.read or self._loaded.shadowed(folders) is not None:
            return False
        places = tuple(os.path.join(os.path.realpath(folder), "") for folder in [directory, *folders])
        seen = {path: before for path, before in self._looked.items() if os.path.join(os.path.realpath(path), "").startswith(places)}
        return all(self._stamp(path) == before for path, before in seen.items())

    @contextlib.contextmanager
    def _noting(self):
        """Keeps, meanwhile, which files and folders are looked at."""
        noted = [(os, name) for name in ("stat", "lstat", "listdir", "scandir", "access", "open")] + [(io, "open"), (builtins, "open")]
        before = [getattr(module, name) for module, name in noted]
        # Modules ask by identity what a function can do.
        abilities = (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks)
        for (module, name), function in zip(noted, before):
            looking = self._looking(function)
            setattr(module, name, looking)
            for able in abilities:
                able.update({looking} if function in able else ())
        try:
            yield
        finally:
            self._noted = True
            for (module, name), function in zip(noted, before):
                for able in abilities:
                    able.discard(getattr(module, name))
                setattr(module, name, function)

    def _looking(self, function):
        @functools.wraps(function)
        def looking(*words, **named):
            path = words[0] if words else None
            if not self._noted and isinstance(path, (str, bytes, os.PathLike)):
                self._note(os.fsdecode(path))
            return function(*words, **named)

        return looking

    def _note(self, path):
        path = os.path.join(self._directory, path)
        if path not in self._looked:
            self._looked[path] = None  # Asking looks too.
            self._looked[path] = self._stamp(path)

