"""Squares numbers on the workers of a Dask cluster."""

import socket
import urllib.request

from flytekit import Resources, task, workflow
from flytekitplugins.dask import Dask, Scheduler, WorkerGroup

small = {"requests": Resources(cpu="100m", mem="200Mi"), "limits": Resources(cpu="1", mem="1Gi")}


@task(task_config=Dask(scheduler=Scheduler(**small), workers=WorkerGroup(number_of_workers=2, **small)), **small)
def squares(n: int, release: str) -> tuple[int, list[str]]:
    from distributed import Client

    # The workers do not have this module: Dask sends them functions inside of functions.
    def square(number: int) -> tuple[int, str]:
        print(f"squares {number}", flush=True)
        return number * number, socket.gethostname()

    with Client() as client:
        client.wait_for_workers(2)
        workers = list(client.scheduler_info()["workers"])
        futures = [client.submit(square, number, workers=[workers[number % 2]]) for number in range(n)]
        results = client.gather(futures)
        print("has the squares", flush=True)
        urllib.request.urlopen(release).read()
    return sum(value for value, _ in results), sorted({host for _, host in results})


@workflow
def run(n: int, release: str) -> tuple[int, list[str]]:
    return squares(n=n, release=release)
