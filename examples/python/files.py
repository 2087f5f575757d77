"""Files, folders and tables travel through the blob store."""

import os
from pathlib import Path

import pandas as pd
from flytekit import StructuredDataset, current_context, task, workflow
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile


@task
def write_file(text: str) -> FlyteFile:
    path = Path(current_context().working_directory) / "note.txt"
    path.write_text(text)
    return FlyteFile(str(path))


@task
def write_folder(file: FlyteFile, copies: int) -> FlyteDirectory:
    folder = Path(current_context().working_directory) / "copies"
    folder.mkdir()
    for number in range(copies):
        (folder / f"{number}.txt").write_text(Path(file.download()).read_text())
    return FlyteDirectory(str(folder))


@task
def table_of(folder: FlyteDirectory) -> StructuredDataset:
    path = folder.download()
    rows = [{"name": name, "size": os.path.getsize(os.path.join(path, name))} for name in sorted(os.listdir(path))]
    return StructuredDataset(dataframe=pd.DataFrame(rows))


@task
def total_size(table: pd.DataFrame) -> int:
    return int(table["size"].sum())


@workflow
def sizes(text: str = "twelve bytes", copies: int = 3) -> int:
    return total_size(table=table_of(folder=write_folder(file=write_file(text=text), copies=copies)))
