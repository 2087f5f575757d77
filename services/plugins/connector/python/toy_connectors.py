"""Connectors for tests, served by `pyflyte serve connector --modules toy_connectors`.

Each call is a line of the file that TOY_LOG names.
"""

import os
import time
from dataclasses import dataclass
from typing import Optional

from flyteidl.core.execution_pb2 import TaskExecution
from flytekit import FlyteContextManager
from flytekit.core.type_engine import TypeEngine
from flytekit.extend.backend.base_connector import (
    AsyncConnectorBase,
    ConnectorRegistry,
    Resource,
    ResourceMeta,
    SyncConnectorBase,
)
from flytekit.models.literals import LiteralMap


def note(text: str) -> None:
    with open(os.environ["TOY_LOG"], "a", encoding="utf8") as log:
        log.write(text + "\n")


async def integer(inputs: Optional[LiteralMap], name: str) -> int:
    context = FlyteContextManager.current_context()
    values = await TypeEngine._literal_map_to_kwargs(context, inputs, {name: int})
    return values[name]


@dataclass
class Timer(ResourceMeta):
    """A job that is nothing but a time, so that a restarted connector still knows it."""

    ends: float
    value: int


class TimerConnector(AsyncConnectorBase):
    name = "Timer"

    def __init__(self):
        super().__init__(task_type_name="toy-timer", metadata_type=Timer)

    async def create(self, task_template, inputs=None, output_prefix=None, task_execution_metadata=None, **kwargs):
        seconds = float(task_template.custom["seconds"])
        note(f"create {task_execution_metadata.namespace} {' '.join(task_template.container.args)}")
        return Timer(ends=time.time() + seconds, value=await integer(inputs, "a"))

    async def get(self, resource_meta, **kwargs):
        if time.time() < resource_meta.ends:
            return Resource(phase=TaskExecution.RUNNING, message="ticking")
        return Resource(phase=TaskExecution.SUCCEEDED, outputs={"o0": 2 * resource_meta.value})

    async def delete(self, resource_meta, **kwargs):
        note("delete")


class AddConnector(SyncConnectorBase):
    name = "Add"

    def __init__(self):
        super().__init__(task_type_name="toy-add")

    async def do(self, task_template, output_prefix, inputs=None, **kwargs):
        note("do")
        return Resource(phase=TaskExecution.SUCCEEDED, outputs={"o0": 1 + await integer(inputs, "a")})


class BrokenConnector(AsyncConnectorBase):
    name = "Broken"

    def __init__(self):
        super().__init__(task_type_name="toy-broken", metadata_type=Timer)

    async def create(self, task_template, **kwargs):
        raise ValueError("this toy has no wheels")

    async def get(self, resource_meta, **kwargs):
        raise ValueError("this toy has no wheels")

    async def delete(self, resource_meta, **kwargs):
        raise ValueError("this toy has no wheels")


for connector in (TimerConnector(), AddConnector(), BrokenConnector()):
    ConnectorRegistry.register(connector)
