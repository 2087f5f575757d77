"""The same task with other settings in one place of a workflow."""

import datetime
import os

from flytekit import Resources, task, workflow


@task(requests=Resources(cpu="100m", mem="100Mi"), retries=0)
def attempt() -> int:
    return int(os.environ["FLYTE_ATTEMPT_NUMBER"])


@task(interruptible=True)
def cheap() -> int:
    return 1


@task
def add(a: int, b: int) -> int:
    return a + b


@workflow
def overridden() -> int:
    first = attempt().with_overrides(
        node_name="first",
        requests=Resources(cpu="200m", mem="200Mi"),
        limits=Resources(cpu="1", mem="400Mi"),
        retries=3,
        timeout=datetime.timedelta(minutes=2),
        interruptible=True,
    )
    return add(a=first, b=cheap()).with_overrides(name="the sum")
