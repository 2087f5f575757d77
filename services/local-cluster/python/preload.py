"""
Modules and data that a fork server loads before it forks, and the checks that they are still current.

The name `placeholders` is given by the program that loads this module.
"""

import contextlib
import gc
import importlib
import os
import sys

#: Imports of the entry points, without flytekit, fsspec and s3fs, which read settings of the container at import.
MODULES = """
aiobotocore.config aiobotocore.session aiohttp asyncio botocore.exceptions botocore.parsers cachetools click cloudpickle
configparser concurrent.futures dataclasses_json decorator docker.utils.build
docstring_parser faulthandler flyteidl.admin.agent_pb2 flyteidl.admin.version_pb2 flyteidl.core.artifact_id_pb2
flyteidl.core.errors_pb2 flyteidl.core.metrics_pb2 flyteidl.plugins.array_job_pb2 flyteidl.service.admin_pb2_grpc
flyteidl.service.auth_pb2_grpc flyteidl.service.dataproxy_pb2_grpc flyteidl.service.signal_pb2_grpc
google.protobuf.json_format google.protobuf.struct_pb2 google.protobuf.wrappers_pb2 grpc gzip html http.server
importlib.metadata importlib.util inspect jsonlines keyring.errors logging markdown_it marshmallow
marshmallow.fields mashumaro.codecs.json mashumaro.codecs.msgpack mashumaro.mixins.json mashumaro.types mimetypes msgpack
multiprocessing packaging.version pathlib pkgutil platform pythonjsonlogger requests resource rich.console
rich.logging rich.panel rich.pretty rich.progress rich.traceback rich.tree site statsd tarfile tempfile
typing_extensions typing_inspect urllib3.exceptions uuid webbrowser yaml yarl zipfile
""".split()


class ForkDeclined(Exception):
    """The request needs a new process."""


class PreloadOutdated(ForkDeclined):
    """Preloaded modules differ from those on disk; all later requests would be declined too."""


class ForkServerUnavailable(Exception):
    """This Python cannot serve forks."""


class Preload:
    """Preloaded modules with their sources; `read_data` preloads data files and returns their paths."""

    def __init__(self, read_data):
        self.read = set()
        self.missing = set()
        self.hidden = None
        self.data = []
        os.environ.update(placeholders.PLACEHOLDERS)
        with self.recording():
            for name in MODULES:
                with contextlib.suppress(ImportError):  # Other versions lack some modules; the container imports what it needs.
                    importlib.import_module(name)
            with contextlib.suppress(Exception):  # The container reads what it needs.
                self.data = read_data()
        self.stamp_sources()
        self.places = None
        self.environment = {name: value for name, value in os.environ.items() if name not in placeholders.PLACEHOLDERS}

    def add(self, modules, hidden):
        """Loads additional modules, hidden from programs until they import them."""
        self.hidden = hidden
        sys.meta_path.insert(0, hidden)

        def import_module(name):
            with self.recording():
                importlib.import_module(name)

        for name in modules:
            hidden.load(name, import_module)
        self.stamp_sources()

    def find_places(self):
        """
        Finds the placeholders that modules have stored. Call it before the first fork, and after modules have been added.

        Raises UnsupportedPlace.
        """
        gc.unfreeze()
        self.places = []  # It contains the placeholders itself.
        self.places = placeholders.find_placeholders()

    def stamp_sources(self):
        sysconfig = sys.modules.get("sysconfig")
        if sysconfig is not None:  # It computes its variables again on demand.
            sysconfig._CONFIG_VARS = None
            sysconfig._CONFIG_VARS_INITIALIZED = False
        self.sources = {}
        for module in self.modules().values():
            path = file_of(module)
            if isinstance(path, str):
                self.sources[path] = stamp(path)
        for path in (*sys.path, *self.data):
            self.sources[path] = stamp(path)

    def modules(self):
        return {**sys.modules, **(self.hidden.modules() if self.hidden else {})}

    @contextlib.contextmanager
    def recording(self):
        """Records which environment variables are read and which modules are not found."""
        read, missing, copied = self.read, self.missing, iter(())

        class RecordingEnviron(type(os.environ)):
            def __getitem__(self, key):
                nonlocal copied
                # A copy of all variables reads each in turn.
                if next(copied, None) != key:
                    copied = iter(())
                    read.add(key)
                return super().__getitem__(key)

            def __iter__(self):
                nonlocal copied
                names = list(super().__iter__())
                copied = iter(names)
                return iter(names)

        class MissingModules:
            @staticmethod
            def find_spec(name, path=None, target=None):
                missing.add(name.partition(".")[0])

        kind = type(os.environ)
        os.environ.__class__ = RecordingEnviron
        sys.meta_path.append(MissingModules)
        try:
            yield
        finally:
            sys.meta_path.remove(MissingModules)
            os.environ.__class__ = kind

    def check(self, environment):
        """Raises ForkDeclined unless a process with this environment would load the same."""
        for path, before in self.sources.items():
            if stamp(path) != before:
                raise PreloadOutdated(f"{path} has changed")
        for name in self.read:
            if (name not in environment) if name in placeholders.PLACEHOLDERS else environment.get(name) != self.environment.get(name):
                raise ForkDeclined(f"{name} was read while modules were preloaded")

    def shadowed(self, folders):
        """Returns the path of a module in these folders, which come first, that would replace a preloaded one."""
        names = {name.partition(".")[0] for name in self.modules()} | self.missing | {"sitecustomize", "usercustomize"}
        for folder in folders:
            try:
                entries = os.listdir(folder)
            except OSError:
                continue
            for entry in entries:
                if entry.partition(".")[0] in names and entry != "__pycache__":
                    return os.path.join(folder, entry)
        return None


def python_path(value):
    """Returns the folders that a value of PYTHONPATH names."""
    return [os.path.abspath(path) for path in value.split(os.pathsep) if path]


def file_of(module):
    """Returns the path of a module; getattr would load one of importlib.util.LazyLoader."""
    try:
        return object.__getattribute__(module, "__file__")
    except AttributeError:
        return None


def stamp(path):
    try:
        status = os.stat(path)
        return status.st_mtime_ns, status.st_size, status.st_ino
    except OSError:
        return None
