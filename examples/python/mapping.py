"""The same task over every item of a list."""

from functools import partial
from typing import List, Optional

from flytekit import LaunchPlan, map_task, task, workflow


@task
def scale(n: int, factor: int) -> int:
    return n * factor


@task
def odd_only(n: int) -> int:
    if n % 2 == 0:
        raise ValueError(f"{n} is even")
    return n


@task
def count_present(values: List[Optional[int]]) -> int:
    return sum(value is not None for value in values)


@workflow
def scaled(numbers: List[int] = [1, 2, 3, 4], factor: int = 10) -> List[int]:
    """Two at a time; one input is the same for all."""
    return map_task(partial(scale, factor=factor), concurrency=2)(n=numbers)


@workflow
def some_fail(numbers: List[int] = [1, 2, 3, 5]) -> int:
    """Enough that three of four succeed: the missing output is None."""
    return count_present(values=map_task(odd_only, min_success_ratio=0.7)(n=numbers))


@workflow
def one_fails(numbers: List[int] = [1, 2]) -> List[int]:
    return map_task(odd_only)(n=numbers)


@workflow
def scale_by_two(n: int) -> int:
    return scale(n=n, factor=2)


double = LaunchPlan.get_or_create(scale_by_two, "python.mapping.double")


@workflow
def over_launch_plans(numbers: List[int] = [1, 2, 3]) -> List[int]:
    """Every item is an execution of its own."""
    return map_task(double)(n=numbers)
