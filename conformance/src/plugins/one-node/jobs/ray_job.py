"""Squares numbers on the worker of a Ray cluster."""

import socket
import urllib.request

from flytekit import Resources, task, workflow
from flytekitplugins.ray import HeadNodeConfig, RayJobConfig, WorkerNodeConfig

small = {"requests": Resources(cpu="100m", mem="500Mi"), "limits": Resources(cpu="1", mem="2Gi")}
config = RayJobConfig(
    # The head takes no tasks.
    head_node_config=HeadNodeConfig(ray_start_params={"num-cpus": "0"}),
    worker_node_config=[WorkerNodeConfig(group_name="workers", replicas=1)],
)


@task(task_config=config, **small)
def squares(n: int, release: str) -> tuple[int, list[str]]:
    import ray

    @ray.remote
    def square(number: int) -> tuple[int, str]:
        return number * number, socket.gethostname()

    results = ray.get([square.remote(number) for number in range(n)])
    print("has the squares", flush=True)
    urllib.request.urlopen(release).read()
    return sum(value for value, _ in results), sorted({host for _, host in results})


@workflow
def run(n: int, release: str) -> tuple[int, list[str]]:
    return squares(n=n, release=release)
