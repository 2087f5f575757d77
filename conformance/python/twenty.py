"""A workflow of twenty Python tasks, one after the other."""

from flytekit import task, workflow


@task(retries=3)
def step(n: int) -> int:
    return n + 1


@workflow
def twenty(n: int = 0) -> int:
    for _ in range(20):
        n = step(n=n)
    return n
