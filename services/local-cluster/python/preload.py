"""Modules and data that a fork server loads before it forks, and the checks that they are still current."""

import contextlib
import functools
import gc
import importlib
import os
import sys
import types

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
#: Placeholders for variables that modules may read at import: easy to find, and to replace, wherever a module stores them.
PLACEHOLDERS = {name: f"/proc/self/{name}-of-{os.getpid()}" for name in ("HOME", "TMPDIR")}


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
        os.environ.update(PLACEHOLDERS)
        with self.recording():
            for name in MODULES:
                with contextlib.suppress(ImportError):  # Other versions lack some modules; the container imports what it needs.
                    importlib.import_module(name)
            with contextlib.suppress(Exception):  # The container reads what it needs.
                self.data = read_data()
        self._stamp_sources()
        self.placeholders = find_placeholders()
        self.environment = dict(os.environ)

    def add(self, modules, hidden):
        """Loads additional modules, hidden from programs until they import them."""
        self.hidden = hidden
        sys.meta_path.insert(0, hidden)
        read, self.read = self.read, set()

        def import_module(name):
            with self.recording():
                importlib.import_module(name)

        for name in modules:
            hidden.load(name, import_module)
        self._stamp_sources()
        if self.read & PLACEHOLDERS.keys():
            gc.unfreeze()
            self.placeholders = []  # It contains the placeholders itself.
            self.placeholders = find_placeholders()
        self.read |= read

    def _stamp_sources(self):
        sysconfig = sys.modules.get("sysconfig")
        if sysconfig is not None:  # It computes its variables again on demand.
            sysconfig._CONFIG_VARS = None
            sysconfig._CONFIG_VARS_INITIALIZED = False
        self.sources = {}
        for module in self.modules().values():
            path = getattr(module, "__file__", None)
            if isinstance(path, str):
                self.sources[path] = stamp(path)
        for path in (*sys.path, *self.data):
            self.sources[path] = stamp(path)

    def modules(self):
        return {**sys.modules, **(self.hidden.modules() if self.hidden else {})}

    @contextlib.contextmanager
    def recording(self):
        """Records which environment variables are read and which modules are not found."""
        read, missing = self.read, self.missing

        class RecordingEnviron(type(os.environ)):
            def __getitem__(self, key):
                read.add(key)
                return super().__getitem__(key)

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
        for name in self.read - PLACEHOLDERS.keys():
            if environment.get(name) != self.environment.get(name):
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


def contains_placeholder(value):
    """Tells whether a value contains a placeholder, directly or in a tuple unknown to the garbage collector."""
    if type(value) is str:
        return any(folder in value for folder in PLACEHOLDERS.values())
    return type(value) is tuple and not gc.is_tracked(value) and any(map(contains_placeholder, value))


def find_placeholders():
    """Finds all places where modules store placeholders; returns setters with the stored values."""
    gc.collect()
    found, inside = [], {id(globals()), id(PLACEHOLDERS)}
    objects = gc.get_objects()
    for holder in objects:
        if isinstance(holder, type):
            inside.update(id(part) for part in gc.get_referents(holder) if type(part) is dict)
            found += [(functools.partial(setattr, holder, name), value) for name, value in vars(holder).items() if contains_placeholder(value)]
    for holder in objects:
        if type(holder) is dict and id(holder) not in inside:
            for part in holder.values():
                if type(part) is dict and not gc.is_tracked(part) and any(map(contains_placeholder, part.values())):
                    raise ForkServerUnavailable(f"{part!r:.100} stores a placeholder in an unsupported place")
            found += [(functools.partial(holder.__setitem__, name), value) for name, value in holder.items() if contains_placeholder(value)]
        elif type(holder) is types.FunctionType and contains_placeholder(holder.__defaults__):
            found.append((functools.partial(setattr, holder, "__defaults__"), holder.__defaults__))
        elif type(holder) is not dict and holder is not objects and any(map(contains_placeholder, gc.get_referents(holder))):
            raise ForkServerUnavailable(f"{holder!r:.100} stores a placeholder in an unsupported place")
    return found


def replace_placeholders(value):
    """Replaces placeholders in a value by the container's folders."""
    if type(value) is tuple:
        return tuple(map(replace_placeholders, value))
    for name, folder in PLACEHOLDERS.items():
        if contains_placeholder(value) and folder in value:
            value = os.path.normpath(value.replace(folder, os.environ.get(name, "")))
    return value


def stamp(path):
    try:
        status = os.stat(path)
        return status.st_mtime_ns, status.st_size, status.st_ino
    except OSError:
        return None
