"""A workflow inside a workflow: its nodes run as part of the outer execution."""

from flytekit import task, workflow


@task
def add(a: int, b: int) -> int:
    return a + b


@workflow
def sum_of_three(a: int, b: int, c: int) -> int:
    return add(a=add(a=a, b=b), b=c)


@workflow
def sum_of_five(a: int = 1, b: int = 2, c: int = 3, d: int = 4, e: int = 5) -> int:
    return sum_of_three(a=sum_of_three(a=a, b=b, c=c), b=d, c=e)
