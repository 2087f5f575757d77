"""
Imports flytekit before the code to run is known, and checks afterwards whether the import would give the same result now.

The names `preload` and `recording` are given by the program that loads this module.
"""

import contextlib
import importlib
import os

#: First import of both entry points that run code.
ENTRY = "flytekit.bin.entrypoint"


class SpeculativeImport:
    """An import that was done before the code was fetched."""

    def __init__(self, loaded):
        self._loaded = loaded
        self._recorder = recording.AccessRecorder(preload.stamp)
        self._directory = os.getcwd()
        environment = dict(os.environ)
        self._failed = True
        with loaded.recording(), self._recorder.recording(), contextlib.suppress(Exception, SystemExit):
            importlib.import_module(ENTRY)
            self._failed = not environment.keys() <= os.environ.keys()
        #: Environment variables that modules have set.
        self.variables = {key: value for key, value in os.environ.items() if environment.get(key) != value}

    def is_valid(self, directory, folders):
        """Checks that a process starting now in this directory, with these additional folders on its path, would load the same."""
        if self._failed or directory != self._directory or "PYTHONPATH" in self._loaded.read or self._loaded.shadowed(folders) is not None:
            return False
        places = tuple(os.path.join(os.path.realpath(folder), "") for folder in [directory, *folders])
        seen = {path: before for path, before in self._recorder.accessed.items() if os.path.join(os.path.realpath(path), "").startswith(places)}
        return all(preload.stamp(path) == before for path, before in seen.items())
