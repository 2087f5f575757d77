"""Tasks of the PyTorch plugin whose target is a pod: elastic ones, and one with a pod template."""

from flytekit import PodTemplate, Resources, task
from flytekitplugins import kfpytorch
from kubernetes.client import V1Container, V1EnvVar, V1PodSpec, V1Toleration

OWN = Resources(cpu="100m", mem="128Mi")


@task(
    requests=OWN,
    limits=OWN,
    task_config=kfpytorch.Elastic(
        nnodes="2:3",
        nproc_per_node=4,
        max_restarts=5,
        run_policy=kfpytorch.RunPolicy(clean_pod_policy=kfpytorch.CleanPodPolicy.RUNNING, backoff_limit=2),
    ),
)
def elastic(a: int) -> int:
    return a


@task(requests=OWN, limits=OWN, task_config=kfpytorch.Elastic(nnodes=1, nproc_per_node=2))
def elastic_one_node(a: int) -> int:
    return a


@task(
    requests=OWN,
    limits=OWN,
    pod_template=PodTemplate(
        primary_container_name="trainer",
        labels={"team": "one"},
        annotations={"note": "two"},
        pod_spec=V1PodSpec(
            containers=[V1Container(name="trainer", env=[V1EnvVar(name="MODE", value="fast")]), V1Container(name="proxy", image="proxy:v1")],
            tolerations=[V1Toleration(key="gpu", operator="Exists")],
        ),
    ),
    task_config=kfpytorch.PyTorch(worker=kfpytorch.Worker(replicas=2), increase_shared_mem=False),
)
def pytorch_pod(a: int) -> int:
    return a
