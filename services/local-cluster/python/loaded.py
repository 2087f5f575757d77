"""What a warm Python has in memory before it forks, and what it came from."""

import contextlib
import functools
import gc
import importlib
import os
import sys
import types

#: What the entry points import, but for flytekit, fsspec and s3fs: those read settings of the container at import.
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
#: Variables of the container that modules may read as they are loaded: they get a value that is easy to find, and to replace, wherever they keep it.
FOLDERS = {name: f"/proc/self/{name}-of-{os.getpid()}" for name in ("HOME", "TMPDIR")}


class Declined(Exception):
    """A new process has to be started."""


class Changed(Declined):
    """What is loaded differs from what stands on disk, and will for every request."""


class Unusable(Exception):
    """No container can be started by a fork."""


class Loaded:
    """What stands in memory before a fork, and what it came from; `read_data` reads files and returns their paths."""

    def __init__(self, read_data):
        self.read = set()
        self.missing = set()
        self.stowed = None
        self.data = []
        os.environ.update(FOLDERS)
        with self.noting():
            for name in MODULES:
                with contextlib.suppress(ImportError):  # Of another version; the container imports what it needs.
                    importlib.import_module(name)
            with contextlib.suppress(Exception):  # The container reads what it needs.
                self.data = read_data()
        self._forget()
        self.kept = kept_folders()
        self.environment = dict(os.environ)

    def add(self, modules, stowed):
        """Loads further modules, which programs see when they import them."""
        self.stowed = stowed
        sys.meta_path.insert(0, stowed)
        read, self.read = self.read, set()

        def import_module(name):
            with self.noting():
                importlib.import_module(name)

        for name in modules:
            stowed.load(name, import_module)
        self._forget()
        if self.read & FOLDERS.keys():
            gc.unfreeze()
            self.kept = []  # It names the folders itself.
            self.kept = kept_folders()
        self.read |= read

    def _forget(self):
        sysconfig = sys.modules.get("sysconfig")
        if sysconfig is not None:  # It finds its variables again when it is asked.
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
        return {**sys.modules, **(self.stowed.modules() if self.stowed else {})}

    @contextlib.contextmanager
    def noting(self):
        """Keeps, meanwhile, which variables are read and which modules are not found."""
        read, missing = self.read, self.missing

        class Noting(type(os.environ)):
            def __getitem__(self, key):
                read.add(key)
                return super().__getitem__(key)

        class Last:
            @staticmethod
            def find_spec(name, path=None, target=None):
                missing.add(name.partition(".")[0])

        kind = type(os.environ)
        os.environ.__class__ = Noting
        sys.meta_path.append(Last)
        try:
            yield
        finally:
            sys.meta_path.remove(Last)
            os.environ.__class__ = kind

    def check(self, environment):
        """Whether a process with this environment would have loaded the same."""
        for path, before in self.sources.items():
            if stamp(path) != before:
                raise Changed(f"{path} has changed")
        for name in self.read - FOLDERS.keys():
            if environment.get(name) != self.environment.get(name):
                raise Declined(f"{name} is read early")

    def shadowed(self, folders):
        """A module that these folders, which come first, would give in place of a loaded one."""
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


def is_folder(value):
    """Whether a value holds one of FOLDERS, by itself or in something that the collector does not know."""
    if type(value) is str:
        return any(folder in value for folder in FOLDERS.values())
    return type(value) is tuple and not gc.is_tracked(value) and any(map(is_folder, value))


def kept_folders():
    """Where modules keep FOLDERS: functions that set the value anew."""
    gc.collect()
    found, inside = [], {id(globals()), id(FOLDERS)}
    objects = gc.get_objects()
    for holder in objects:
        if isinstance(holder, type):
            inside.update(id(part) for part in gc.get_referents(holder) if type(part) is dict)
            found += [(functools.partial(setattr, holder, name), value) for name, value in vars(holder).items() if is_folder(value)]
    for holder in objects:
        if type(holder) is dict and id(holder) not in inside:
            for part in holder.values():
                if type(part) is dict and not gc.is_tracked(part) and any(map(is_folder, part.values())):
                    raise Unusable(f"{part!r:.100} keeps a folder")
            found += [(functools.partial(holder.__setitem__, name), value) for name, value in holder.items() if is_folder(value)]
        elif type(holder) is types.FunctionType and is_folder(holder.__defaults__):
            found.append((functools.partial(setattr, holder, "__defaults__"), holder.__defaults__))
        elif type(holder) is not dict and holder is not objects and any(map(is_folder, gc.get_referents(holder))):
            raise Unusable(f"{holder!r:.100} keeps a folder")
    return found


def own(value):
    """A value with this container's folders in it."""
    if type(value) is tuple:
        return tuple(map(own, value))
    for name, folder in FOLDERS.items():
        if is_folder(value) and folder in value:
            value = os.path.normpath(value.replace(folder, os.environ.get(name, "")))
    return value


def stamp(path):
    try:
        status = os.stat(path)
        return status.st_mtime_ns, status.st_size, status.st_ino
    except OSError:
        return None
