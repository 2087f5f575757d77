"""Reads literals of the TypeScript SDK with stock flytekit, and writes them again.

usage: interoperate.py CASES ANSWERS; both are files with one JSON document a line.
"""

import base64
import dataclasses
import datetime
import enum
import json
import struct
import sys
import typing

from flyteidl.core import literals_pb2
from flytekit.core.context_manager import FlyteContextManager
from flytekit.core.type_engine import TypeEngine
from flytekit.models.literals import Literal
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile

SIMPLE = {
    "int": int,
    "bigint": int,
    "float": float,
    "string": str,
    "boolean": bool,
    "datetime": datetime.datetime,
    "duration": datetime.timedelta,
    "json": dict,
    "file": FlyteFile["csv"],
    "directory": FlyteDirectory,
}
made = {}


def python_type(shape):
    """Returns the Python type of a shape; equal shapes have one class."""
    key = json.dumps(shape, sort_keys=True)
    if key not in made:
        name = f"Type{len(made)}"
        made[key] = None
        made[key] = make_type(shape, name)
        if isinstance(made[key], type) and made[key].__name__ == name:
            # mashumaro finds classes by their module.
            made[key].__module__ = __name__
            globals()[name] = made[key]
    return made[key]


def make_type(shape, name):
    kind = shape["kind"]
    if kind in SIMPLE:
        return SIMPLE[kind]
    if kind == "enum":
        return enum.Enum(name, {each: each for each in shape["names"]})
    if kind == "list":
        return typing.List[python_type(shape["of"])]
    if kind == "map":
        return typing.Dict[str, python_type(shape["of"])]
    if kind == "optional":
        return typing.Optional[python_type(shape["of"])]
    if kind == "union":
        return typing.Union[tuple(python_type(each) for each in shape["of"])]
    required = [(field, python_type(of)) for field, of in shape["fields"].items() if of["kind"] != "optional"]
    optional = [(field, python_type(of), None) for field, of in shape["fields"].items() if of["kind"] == "optional"]
    return dataclasses.make_dataclass(name, required + optional)


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def canonical(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, int):
        return {"int": str(value)}
    if isinstance(value, float):
        return {"number": bits(value)}
    if isinstance(value, datetime.datetime):
        return {"milliseconds": str((value - EPOCH) // datetime.timedelta(milliseconds=1))}
    if isinstance(value, datetime.timedelta):
        return {"microseconds": str(value // datetime.timedelta(microseconds=1))}
    if isinstance(value, (FlyteFile, FlyteDirectory)):
        return {"uri": value.remote_source or str(value.path)}
    if isinstance(value, list):
        return [canonical(each) for each in value]
    if dataclasses.is_dataclass(value):
        return {field.name: canonical(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return {str(key): canonical(each) for key, each in value.items()}


def bits(value):
    return struct.pack(">d", value).hex()


def answer(context, case):
    try:
        python = python_type(case["shape"])
        declared = TypeEngine.to_literal_type(python)
        message = literals_pb2.Literal.FromString(base64.b64decode(case["literal"]))
        value = TypeEngine.to_python_value(context, Literal.from_flyte_idl(message), python)
        written = TypeEngine.to_literal(context, value, python, declared)
        return {
            "value": canonical(value),
            "type": base64.b64encode(declared.to_flyte_idl().SerializeToString()).decode(),
            "literal": base64.b64encode(written.to_flyte_idl().SerializeToString()).decode(),
        }
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:2000]}


def main(cases, answers):
    context = FlyteContextManager.current_context()
    with open(cases) as source, open(answers, "w") as target:
        for line in source:
            target.write(json.dumps(answer(context, json.loads(line))) + "\n")


main(*sys.argv[1:])
