"""Prints the rows of a StructuredDataset, read as a Python task reads its input.

Takes the file of a literal in protobuf.
"""

import json
import os
import sys
from pathlib import Path

import pyarrow as pa
from flyteidl.core import literals_pb2
from flytekit import FlyteContextManager
from flytekit.core.type_engine import TypeEngine
from flytekit.models.literals import Literal

# flytekit creates the folders of the address, as of a relative path.
os.chdir(Path(sys.argv[1]).parent)
literal = Literal.from_flyte_idl(literals_pb2.Literal.FromString(Path(sys.argv[1]).read_bytes()))
table = TypeEngine.to_python_value(FlyteContextManager.current_context(), literal, pa.Table)
print(json.dumps(table.to_pylist()))
