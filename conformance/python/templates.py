"""Prints the workflow and launch plan that stock flytekit registers, as JSON."""

import dataclasses
import datetime
import functools
import json
import typing
from collections import OrderedDict

from flytekit import LaunchPlan, WorkflowFailurePolicy, conditional, map_task, task, wait_for_input, workflow
from flytekit.configuration import Image, ImageConfig, SerializationSettings
from flytekit.tools.translator import get_serializable
from flytekit.types.error.error import FlyteError
from google.protobuf.json_format import MessageToDict


@dataclasses.dataclass
class Hyper:
    C: float
    n: int = 3


@task(retries=2, timeout=datetime.timedelta(minutes=10))
def fit(x: float, hyper: Hyper) -> float:
    return x * hyper.C


@task
def notify(x: float, hypers: typing.List[Hyper], o: typing.Optional[int] = None, err: typing.Optional[FlyteError] = None):
    print(x)


@workflow
def inner(hyper: Hyper) -> float:
    return fit(x=hyper.C, hyper=hyper)


@workflow(on_failure=notify, failure_policy=WorkflowFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE, interruptible=True)
def outer(x: float, hypers: typing.List[Hyper], o: typing.Optional[int] = None) -> typing.Tuple[float, typing.List[typing.Optional[float]]]:
    first = fit(x=x, hyper=Hyper(2.0)).with_overrides(node_name="first", retries=1)
    mapped = map_task(functools.partial(fit, x=first), concurrency=8, min_success_ratio=0.5)(hyper=hypers)
    once = inner(hyper=hypers[0])
    threshold = wait_for_input("threshold", timeout=datetime.timedelta(hours=2), expected_type=float)
    chosen = (
        conditional("chosen")
        .if_((once > 3.0) & (threshold > x))
        .then(fit(x=once, hyper=hypers[0]))
        .elif_(once < 0.1)
        .then(fit(x=threshold, hyper=hypers[1]))
        .else_()
        .fail("no")
    )
    return chosen, mapped


plan = LaunchPlan.get_or_create(outer, "plan", default_inputs={"x": 2.0}, fixed_inputs={"o": 3}, max_parallelism=4)
settings = SerializationSettings(project="p", domain="d", version="v", image_config=ImageConfig(default_image=Image("default", "img", "1")))
entities = OrderedDict()
print(
    json.dumps(
        {
            "workflow": MessageToDict(get_serializable(entities, settings, outer).to_flyte_idl()),
            "plan": MessageToDict(get_serializable(entities, settings, plan).to_flyte_idl()),
        }
    )
)
