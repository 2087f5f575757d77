"""Adds the squares of two MPI workers."""

import socket
import urllib.request

from flytekit import PodTemplate, Resources, task, workflow
from flytekitplugins.kfmpi import Launcher, MPIJob, Worker
from kubernetes.client import V1ConfigMapVolumeSource, V1Container, V1EnvVar, V1PodSpec, V1Volume, V1VolumeMount

small = {"requests": Resources(cpu="100m", mem="200Mi"), "limits": Resources(cpu="1", mem="1Gi")}
# Fast registration brings the code to the launcher alone: workers have it in a volume, as they
# would have it in their image.
code = PodTemplate(
    pod_spec=V1PodSpec(
        containers=[
            V1Container(
                name="primary",
                env=[V1EnvVar(name="PYTHONPATH", value="/jobs")],
                volume_mounts=[V1VolumeMount(name="jobs", mount_path="/jobs")],
            )
        ],
        volumes=[V1Volume(name="jobs", config_map=V1ConfigMapVolumeSource(name="jobs"))],
    )
)


@task(task_config=MPIJob(launcher=Launcher(replicas=1), worker=Worker(replicas=2), slots=1), pod_template=code, **small)
def squares(n: int, release: str) -> tuple[int, list[str]]:
    from mpi4py import MPI

    ranks = MPI.COMM_WORLD
    total = ranks.allreduce(sum(number * number for number in range(ranks.rank, n, ranks.size)))
    hosts = ranks.allgather(socket.gethostname())
    print(f"rank {ranks.rank} has the squares", flush=True)
    urllib.request.urlopen(release).read()
    ranks.barrier()
    return total, sorted(hosts)


@workflow
def run(n: int, release: str) -> tuple[int, list[str]]:
    return squares(n=n, release=release)
