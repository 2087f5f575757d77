"""A workflow whose one task is cached, and gives another number each time that it runs."""

from random import getrandbits

from flytekit import task, workflow


@task(cache=True, cache_version="1")
def draw(n: int) -> int:
    return getrandbits(50)


@workflow
def drawn(n: int = 0) -> int:
    return draw(n=n)
