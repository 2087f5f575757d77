"""Reads a data set of the TypeScript SDK with stock flytekit, and writes one for it.

usage: rows.py LITERAL OUTPUT; LITERAL is a file with a literal, OUTPUT a folder for the answer.
"""

import collections
import json
import pathlib
import sys
import typing

import pandas
from flyteidl.core import literals_pb2
from flytekit.core.context_manager import FlyteContextManager
from flytekit.core.type_engine import TypeEngine
from flytekit.models.literals import Literal
from flytekit.types.structured import StructuredDataset

ROWS = typing.Annotated[StructuredDataset, collections.OrderedDict(id=int, rate=float, text=str, on=bool)]


def main(literal, output):
    context = FlyteContextManager.current_context()
    declared = TypeEngine.to_literal_type(ROWS)
    message = literals_pb2.Literal.FromString(pathlib.Path(literal).read_bytes())
    rows = TypeEngine.to_python_value(context, Literal.from_flyte_idl(message), ROWS).open(pandas.DataFrame).all()
    frame = rows.assign(rate=rows.rate * 2)
    written = TypeEngine.to_literal(context, StructuredDataset(dataframe=frame), ROWS, declared)
    folder = pathlib.Path(output)
    (folder / "literal").write_bytes(written.to_flyte_idl().SerializeToString())
    (folder / "type").write_bytes(declared.to_flyte_idl().SerializeToString())
    (folder / "rows").write_text(json.dumps(rows.to_dict("records")))


main(*sys.argv[1:])
