"""What happens when tasks fail: retries, timeouts, clean-up, and both failure policies."""

import datetime
import os
import time
from typing import Optional

from flytekit import WorkflowFailurePolicy, task, workflow
from flytekit.exceptions.user import FlyteRecoverableException
from flytekit.types.error.error import FlyteError


@task(retries=2)
def flaky() -> int:
    """Fails twice, then succeeds."""
    attempt = int(os.environ["FLYTE_ATTEMPT_NUMBER"])
    if attempt < 2:
        raise FlyteRecoverableException(f"attempt {attempt} fails on purpose")
    return attempt


@workflow
def recovers() -> int:
    return flaky()


@task
def divide(a: int, b: int) -> float:
    return a / b


@workflow
def always_fails(a: int = 1) -> float:
    return divide(a=a, b=0)


@task(timeout=datetime.timedelta(seconds=4))
def too_slow() -> None:
    time.sleep(120)


@workflow
def times_out() -> None:
    too_slow()


@task
def tell(name: str, err: Optional[FlyteError] = None) -> None:
    print(f"cleaning up {name}: {err.message if err else 'no error'}")


@workflow(on_failure=tell)
def cleans_up(name: str = "the cluster") -> float:
    tell(name=name)
    return divide(a=1, b=0)


@task
def succeed(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@workflow
def fails_immediately() -> float:
    """The first failure ends the workflow; what runs beside it is aborted."""
    divide(a=1, b=0)
    return succeed(seconds=60.0)


@workflow(failure_policy=WorkflowFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
def fails_at_the_end() -> float:
    """What does not depend on the failed node still runs to its end."""
    divide(a=1, b=0)
    return succeed(seconds=2.0)
