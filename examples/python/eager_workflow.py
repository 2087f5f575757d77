"""A workflow that is an ordinary asynchronous program."""

from flytekit import eager, task


@task
def add_one(n: int) -> int:
    return n + 1


@eager
async def count_up(to: int = 2) -> int:
    """Each call is an execution of its own; Python decides what comes next."""
    n = 0
    while n < to:
        n = add_one(n=n)
    return n
