"""Writes the templates of tasks of flytekit's plugins as stock flytekit serialises them.

Usage: python plugin_tasks.py FOLDER PLUGIN...; each template becomes FOLDER/NAME.pb. A plugin is imported only
when it is named. Texts with `{mode}` stay: the test replaces them by what the stand-in is to do.
"""

import os
import sys
from pathlib import Path

from flytekit import kwtypes, task
from flytekit.configuration import Image, ImageConfig, SerializationSettings
from flytekit.types.structured import StructuredDataset

image = Image(name="default", fqn="none", tag="v1")
settings = SerializationSettings(
    image_config=ImageConfig(default_image=image), project="p", domain="development", version="v1", env={}
)


def bigquery():
    from flytekitplugins.bigquery import BigQueryConfig, BigQueryTask

    yield BigQueryTask(
        name="bigquery",
        inputs=kwtypes(mode=str, count=int),
        query_template="SELECT @mode, @count",
        task_config=BigQueryConfig(ProjectID="a-project", Location="EU"),
        output_structured_dataset_type=StructuredDataset,
    )


def snowflake():
    from flytekitplugins.snowflake import SnowflakeConfig, SnowflakeTask

    config = SnowflakeConfig(user="a-user", account="org-account", database="db", schema="public", warehouse="wh")
    for name, query in {
        "snowflake": "SELECT %(count)s AS n",
        "snowflake-failing": "SELECT %(count)s FROM no_such_table",
    }.items():
        yield SnowflakeTask(
            name=name,
            inputs=kwtypes(count=int),
            query_template=query,
            task_config=config,
            output_schema_type=StructuredDataset,
        )


def databricks_job(a: int) -> int:
    return a


def databricks():
    from flytekitplugins.spark import DatabricksV2

    config = DatabricksV2(
        databricks_conf={"run_name": "{mode}", "existing_cluster_id": "a-cluster"},
        databricks_instance=os.environ["DATABRICKS_INSTANCE"],
    )
    yield task(task_config=config)(databricks_job)


def openai():
    from flytekitplugins.openai import BatchEndpointTask, ChatGPTTask

    yield ChatGPTTask(name="chatgpt", chatgpt_config={"model": "gpt-4o", "temperature": 0.5}, openai_organization="org-1")
    yield BatchEndpointTask(name="openai-batch", config={"metadata": {"mode": "batch"}}, openai_organization="org-1")


def sagemaker():
    from flytekitplugins.awssagemaker_inference import SageMakerEndpointTask, SageMakerModelTask
    from flytekitplugins.awssagemaker_training import SageMakerTrainingJobTask

    yield SageMakerTrainingJobTask(
        name="sagemaker-training",
        region="us-east-1",
        inputs=kwtypes(mode=str),
        config={
            "TrainingJobName": "{inputs.mode}",
            "RoleArn": "arn:aws:iam::123456789012:role/a-role",
            "AlgorithmSpecification": {"TrainingImage": "an-image", "TrainingInputMode": "File"},
            "OutputDataConfig": {"S3OutputPath": "s3://a-bucket/models"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        },
    )
    yield SageMakerEndpointTask(
        name="sagemaker-endpoint",
        region="us-east-1",
        inputs=kwtypes(mode=str),
        config={"EndpointName": "{inputs.mode}", "EndpointConfigName": "a-config"},
    )
    yield SageMakerModelTask(
        name="sagemaker-model",
        region="us-east-1",
        inputs=kwtypes(mode=str),
        config={
            "ModelName": "{inputs.mode}",
            "PrimaryContainer": {"Image": "an-image"},
            "ExecutionRoleArn": "arn:aws:iam::123456789012:role/a-role",
        },
    )


def template(entity) -> bytes:
    from flytekit.tools.translator import get_serializable
    from collections import OrderedDict

    return get_serializable(OrderedDict(), settings, entity).template.to_flyte_idl().SerializeToString()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for plugin in sys.argv[2:]:
        for entity in globals()[plugin]():
            (folder / f"{entity.name.rsplit('.', 1)[-1]}.pb").write_bytes(template(entity))
