"""Workflows whose graph is made while they run."""

from typing import List

from flytekit import LaunchPlan, conditional, dynamic, map_task, task, workflow


@task
def square(n: int) -> int:
    return n * n


@task
def total(values: List[int]) -> int:
    return sum(values)


@dynamic
def squares(count: int) -> int:
    """As many nodes as its input says."""
    return total(values=[square(n=n) for n in range(count)])


@workflow
def sum_of_squares(count: int = 4) -> int:
    return squares(count=count)


@dynamic
def countdown(n: int) -> int:
    """A dynamic workflow inside a dynamic workflow, and so on."""
    if n == 0:
        return square(n=3)
    return countdown(n=n - 1)


@workflow
def nested(n: int = 2) -> int:
    return countdown(n=n)


@dynamic
def nothing_to_do(n: int) -> int:
    """Makes no node: what it returns is the value itself."""
    return n


@workflow
def constant(n: int = 7) -> int:
    return nothing_to_do(n=n)


squares_plan = LaunchPlan.get_or_create(sum_of_squares, "python.dynamic.squares_plan", default_inputs={"count": 3})


@workflow
def square_if_small(n: int) -> int:
    return conditional("size").if_(n < 10).then(square(n=n)).else_().then(total(values=[n]))


@dynamic
def mixed(n: int) -> List[int]:
    """A launch plan, a map and a sub-workflow with a branch, made on the fly."""
    mapped = map_task(square)(n=[1, 2, n])
    return [squares_plan(count=n), total(values=mapped), square_if_small(n=n)]


@workflow
def all_kinds(n: int = 3) -> List[int]:
    return mixed(n=n)


@dynamic
def breaks_down(n: int) -> int:
    if n > 0:
        raise ValueError(f"no graph for {n}")
    return square(n=n)


@workflow
def cannot_be_made(n: int = 1) -> int:
    return breaks_down(n=n)
