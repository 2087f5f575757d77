"""Preloads the JSON files (3.6 MB) that botocore reads for a process's first S3 client."""

import contextlib
import functools
import glob
import importlib

GENERAL_FILES = ("endpoints", "partitions", "sdk-default-configuration", "_retry")
S3_FILES = ("service-2", "endpoint-rule-set-1")


def read():
    """Preloads the files. The first reader of a file gets the preloaded data, later ones read the file, so that data are never shared. Returns the paths."""
    loaders = importlib.import_module("botocore.loaders")
    load_file = loaders.JSONFileLoader.load_file
    loaded = {}

    def record(self, path):
        loaded[path] = load_file(self, path)
        return loaded[path]

    loaders.JSONFileLoader.load_file = record
    try:
        loader = loaders.Loader()
        version = loader.determine_latest_version("s3", S3_FILES[0])
        # `load_service_model` would merge other files into the data.
        for name in (*GENERAL_FILES, *(f"s3/{version}/{name}" for name in S3_FILES)):
            with contextlib.suppress(Exception):  # Other releases lack some files.
                loader.load_data(name)
    finally:
        loaders.JSONFileLoader.load_file = load_file
    preloaded = {path: data for path, data in loaded.items() if data is not None}

    @functools.wraps(load_file)
    def load_once(self, path):
        data = preloaded.pop(path, None)
        return load_file(self, path) if data is None else data

    loaders.JSONFileLoader.load_file = load_once
    return [file for path in preloaded for file in glob.glob(f"{glob.escape(path)}.json*")]
