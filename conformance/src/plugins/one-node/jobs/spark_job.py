"""Squares numbers on the executors of a Spark application."""

import socket
import urllib.request

from flytekit import Resources, current_context, task, workflow
from flytekitplugins.spark import Spark

config = Spark(
    spark_conf={
        "spark.driver.cores": "1",
        "spark.driver.memory": "600m",
        "spark.kubernetes.driver.request.cores": "100m",
        "spark.kubernetes.driver.limit.cores": "1",
        "spark.executor.cores": "1",
        "spark.executor.memory": "600m",
        "spark.kubernetes.executor.request.cores": "100m",
        "spark.kubernetes.executor.limit.cores": "1",
        "spark.executor.instances": "2",
        # Milliseconds: a busy machine needs seconds to load the classes that call the Kubernetes API.
        "spark.kubernetes.driver.connectionTimeout": "120000",
        "spark.kubernetes.driver.requestTimeout": "120000",
        # Tasks wait until both executors are there.
        "spark.scheduler.minRegisteredResourcesRatio": "1",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
        "spark.locality.wait": "0s",
    }
)


@task(task_config=config, requests=Resources(cpu="100m"), limits=Resources(cpu="1"))
def squares(n: int, release: str) -> tuple[int, list[str]]:
    context = current_context().spark_session.sparkContext
    results = context.parallelize(range(n), 8).map(lambda number: (number * number, socket.gethostname())).collect()
    print("has the squares", flush=True)
    urllib.request.urlopen(release).read()
    return sum(value for value, _ in results), sorted({host for _, host in results})


@workflow
def run(n: int, release: str) -> tuple[int, list[str]]:
    return squares(n=n, release=release)
