"""What botocore reads for each process's first client of an S3 service: 3.6 MB of JSON."""

import contextlib
import functools
import glob
import importlib

GENERAL = ("endpoints", "partitions", "sdk-default-configuration", "_retry")
OF_S3 = ("service-2", "endpoint-rule-set-1")


def read():
    """Reads it ahead. Who asks first gets what was read, who asks again reads the file, so that nobody shares it. Returns the files."""
    loaders = importlib.import_module("botocore.loaders")
    load_file = loaders.JSONFileLoader.load_file
    found = {}

    def keep(self, path):
        found[path] = load_file(self, path)
        return found[path]

    loaders.JSONFileLoader.load_file = keep
    try:
        loader = loaders.Loader()
        version = loader.determine_latest_version("s3", OF_S3[0])
        # Not `load_service_model`, which works further files into what it has read.
        for name in (*GENERAL, *(f"s3/{version}/{name}" for name in OF_S3)):
            with contextlib.suppress(Exception):  # Of another release.
                loader.load_data(name)
    finally:
        loaders.JSONFileLoader.load_file = load_file
    kept = {path: data for path, data in found.items() if data is not None}

    @functools.wraps(load_file)
    def give(self, path):
        data = kept.pop(path, None)
        return load_file(self, path) if data is None else data

    loaders.JSONFileLoader.load_file = give
    return [file for path in kept for file in glob.glob(f"{glob.escape(path)}.json*")]
