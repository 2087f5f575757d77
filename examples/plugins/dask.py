"""Adds numbers in parallel with Dask.

On the local stack the task runs as one pod: npx flyte-ts python install --extra dask
"""

from flytekit import task, workflow
from flytekitplugins.dask import Dask, WorkerGroup


def square(number: int) -> int:
    return number * number


@task(task_config=Dask(workers=WorkerGroup(number_of_workers=2)))
def sum_of_squares(n: int) -> int:
    from distributed import Client

    # The address of the scheduler is in DASK_SCHEDULER_ADDRESS.
    with Client() as client:
        return client.submit(sum, client.map(square, range(n))).result()


@workflow
def squares(n: int = 10) -> int:
    return sum_of_squares(n=n)
