"""One task for each type whose flytekit plugin needs no client library: Kubeflow, Ray, Dask, AWS Batch, Athena, Hive."""

from flytekit import Resources, kwtypes, task
from flytekit.types.structured import StructuredDataset
from flytekitplugins import kfmpi, kfpytorch, kftensorflow
from flytekitplugins.athena import AthenaConfig, AthenaTask
from flytekitplugins.awsbatch import AWSBatchConfig
from flytekitplugins.dask import Dask, Scheduler, WorkerGroup
from flytekitplugins.hive import HiveConfig, HiveTask
from flytekitplugins.ray import HeadNodeConfig, RayJobConfig, WorkerNodeConfig

OWN = Resources(cpu="100m", mem="128Mi")
SMALL = Resources(cpu="1", mem="64Mi")


@task(
    requests=OWN,
    limits=OWN,
    task_config=kfpytorch.PyTorch(
        worker=kfpytorch.Worker(replicas=2, image="worker:v1", requests=SMALL, limits=SMALL),
        master=kfpytorch.Master(restart_policy=kfpytorch.RestartPolicy.FAILURE),
        run_policy=kfpytorch.RunPolicy(
            clean_pod_policy=kfpytorch.CleanPodPolicy.ALL,
            ttl_seconds_after_finished=60,
            active_deadline_seconds=600,
            backoff_limit=3,
        ),
        increase_shared_mem=False,
    ),
)
def pytorch(a: int) -> int:
    return a


@task(
    requests=OWN,
    limits=OWN,
    task_config=kftensorflow.TfJob(
        chief=kftensorflow.Chief(replicas=1),
        worker=kftensorflow.Worker(replicas=2, requests=SMALL, limits=SMALL),
        ps=kftensorflow.PS(replicas=1, image="ps:v1"),
        evaluator=kftensorflow.Evaluator(replicas=1, restart_policy=kftensorflow.RestartPolicy.ALWAYS),
    ),
)
def tensorflow(a: int) -> int:
    return a


@task(
    requests=OWN,
    limits=OWN,
    task_config=kfmpi.MPIJob(
        launcher=kfmpi.Launcher(replicas=1),
        worker=kfmpi.Worker(replicas=2, command=["/usr/sbin/sshd", "-De"], requests=SMALL, limits=SMALL),
        slots=2,
    ),
)
def mpi(a: int) -> int:
    return a


@task(
    requests=OWN,
    limits=OWN,
    task_config=kfmpi.HorovodJob(launcher=kfmpi.Launcher(replicas=1), worker=kfmpi.Worker(replicas=2), slots=2),
)
def horovod(a: int) -> int:
    return a


@task(
    requests=OWN,
    limits=OWN,
    task_config=RayJobConfig(
        head_node_config=HeadNodeConfig(ray_start_params={"log-color": "false"}, requests=SMALL, limits=SMALL),
        worker_node_config=[WorkerNodeConfig(group_name="small", replicas=2, min_replicas=1, max_replicas=3)],
        runtime_env={"pip": ["numpy"]},
        enable_autoscaling=True,
        shutdown_after_job_finishes=True,
        ttl_seconds_after_finished=30,
    ),
)
def ray(a: int) -> int:
    return a


@task(
    requests=OWN,
    limits=OWN,
    task_config=Dask(
        scheduler=Scheduler(image="scheduler:v1"),
        workers=WorkerGroup(number_of_workers=2, requests=SMALL, limits=SMALL),
    ),
)
def dask(a: int) -> int:
    return a


@task(
    requests=OWN,
    limits=OWN,
    task_config=AWSBatchConfig(parameters={"p": "v"}, schedulingPriority=7, propagateTags=True, tags={"team": "one"}),
)
def aws_batch(a: int) -> int:
    return a


athena = AthenaTask(
    name="athena",
    inputs=kwtypes(a=int),
    query_template="SELECT {{ .inputs.a }}",
    task_config=AthenaConfig(database="db", workgroup="group", catalog="catalog"),
    output_schema_type=StructuredDataset,
)

hive = HiveTask(
    name="hive",
    inputs=kwtypes(a=int),
    query_template="SELECT {{ .inputs.a }} FROM t",
    task_config=HiveConfig(cluster_label="db", tags=["t"]),
    output_schema_type=StructuredDataset,
)
