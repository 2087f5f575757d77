"""Squares numbers in parallel with Ray.

On the local stack the task runs as one pod: npx flyte-ts python install --extra ray
"""

from flytekit import task, workflow
from flytekitplugins.ray import RayJobConfig, WorkerNodeConfig


@task(task_config=RayJobConfig(worker_node_config=[WorkerNodeConfig(group_name="workers", replicas=1)]))
def sum_of_squares(n: int) -> int:
    import ray

    @ray.remote
    def square(number: int) -> int:
        return number * number

    return sum(ray.get([square.remote(number) for number in range(n)]))


@workflow
def squares(n: int = 10) -> int:
    return sum_of_squares(n=n)
