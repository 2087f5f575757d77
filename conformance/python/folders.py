"""Takes a folder from the caller's machine."""

import os

from flytekit import task, workflow
from flytekit.types.directory import FlyteDirectory


@task
def names(folder: FlyteDirectory) -> str:
    return ",".join(sorted(os.listdir(folder.download())))


@workflow
def list_names(folder: FlyteDirectory) -> str:
    return names(folder=folder)
