"""Preloads the data (3.6 MB of JSON) from which botocore builds a process's first client of S3."""

import contextlib
import functools
import glob
import importlib
import os

GENERAL_FILES = ("endpoints", "partitions", "sdk-default-configuration", "_retry")
S3_FILES = ("service-2", "endpoint-rule-set-1")


def read():
    """Preloads the data into the cache of a loader, which the first session gets. Later sessions read the files, so that sessions share no data. Returns the paths."""
    session = importlib.import_module("botocore.session")
    create_loader = session.create_loader
    cache, paths = load(create_loader())

    @functools.wraps(create_loader)
    def create_first(search_path_string=None):
        session.create_loader = create_loader
        loader = create_loader(search_path_string)
        # The user's own models are merged into those of botocore.
        if search_path_string is None and not any(map(os.path.isdir, own_folders(loader))):
            loader._cache.update(cache)
        return loader

    session.create_loader = create_first
    return [file for path in paths for file in glob.glob(f"{glob.escape(path)}.json*")]


def load(loader):
    """Returns the loader's cache with the data, and the paths of the files that it has read."""
    files = importlib.import_module("botocore.loaders").JSONFileLoader
    load_file, paths = files.load_file, []

    def record(self, path):
        data = load_file(self, path)
        if data is not None:
            paths.append(path)
        return data

    files.load_file = record
    try:
        for name in GENERAL_FILES:
            with contextlib.suppress(Exception):  # Other releases lack some files.
                loader.load_data(name)
        for name in S3_FILES:
            with contextlib.suppress(Exception):
                # The cache distinguishes calls by their arguments; these are those of a client.
                loader.load_service_model("s3", name, api_version=None)
    finally:
        files.load_file = load_file
    return loader._cache, paths


def own_folders(loader):
    return [folder for folder in loader.search_paths if folder != loader.BUILTIN_DATA_PATH]
