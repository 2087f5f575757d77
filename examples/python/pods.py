"""What a task's pod is given: secrets, and what a PodTemplate object of the cluster says."""

import os

from flytekit import Secret, current_context, task, workflow


@task(
    # kubectl create -f: a PodTemplate of this name, in the namespace of the project and domain.
    pod_template_name="flyte-example",
    # kubectl create secret generic vault --from-literal password=… --from-literal token=…
    secret_requests=[
        Secret(group="vault", key="password"),
        Secret(group="vault", key="token", mount_requirement=Secret.MountType.ENV_VAR, env_var="TOKEN"),
    ],
    environment={"OWN": "of the task"},
)
def given() -> list[str]:
    secrets = current_context().secrets
    variables = [os.environ[name] for name in ("TOKEN", "OWN", "TEMPLATE")]
    return [secrets.get("vault", "password"), secrets.get("vault", "token"), *variables]


@workflow
def seen() -> list[str]:
    return given()
