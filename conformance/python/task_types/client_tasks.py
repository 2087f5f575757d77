"""One task for each type whose flytekit plugin imports a client library: Spark, Databricks, BigQuery, Snowflake."""

from flytekit import Resources, kwtypes, task
from flytekit.types.structured import StructuredDataset
from flytekitplugins.bigquery import BigQueryConfig, BigQueryTask
from flytekitplugins.snowflake import SnowflakeConfig, SnowflakeTask
from flytekitplugins.spark import Databricks, DatabricksV2, Spark
from google.cloud.bigquery import QueryJobConfig

OWN = Resources(cpu="100m", mem="128Mi")
SPARK_CONF = {
    "spark.driver.cores": "1",
    "spark.driver.memory": "500m",
    "spark.executor.cores": "2",
    "spark.executor.memory": "600m",
    "spark.executor.instances": "3",
}


@task(
    requests=OWN,
    limits=OWN,
    retries=1,
    task_config=Spark(
        spark_conf=SPARK_CONF,
        hadoop_conf={"fs.a": "b"},
        executor_path="/usr/bin/python3",
        applications_path="local:///opt/main.py",
    ),
)
def spark(a: int) -> int:
    return a


@task(
    requests=OWN,
    limits=OWN,
    task_config=Databricks(
        spark_conf=SPARK_CONF,
        hadoop_conf={},
        executor_path="/usr/bin/python3",
        applications_path="local:///opt/main.py",
        databricks_conf={"run_name": "old", "existing_cluster_id": "c"},
        databricks_instance="old.example.com",
    ),
)
def databricks_old(a: int) -> int:
    return a


@task(
    requests=OWN,
    limits=OWN,
    task_config=DatabricksV2(
        spark_conf={},
        hadoop_conf={},
        executor_path="/usr/bin/python3",
        applications_path="local:///opt/main.py",
        databricks_conf={"run_name": "new", "existing_cluster_id": "c"},
        databricks_instance="new.example.com",
        databricks_token_secret="token",
    ),
)
def databricks(a: int) -> int:
    return a


bigquery = BigQueryTask(
    name="bigquery",
    inputs=kwtypes(a=int),
    query_template="SELECT @a",
    task_config=BigQueryConfig(
        ProjectID="a-project", Location="EU", QueryJobConfig=QueryJobConfig(maximum_bytes_billed=10, use_legacy_sql=False)
    ),
    output_structured_dataset_type=StructuredDataset,
)

snowflake = SnowflakeTask(
    name="snowflake",
    inputs=kwtypes(a=int),
    query_template="SELECT %(a)s",
    task_config=SnowflakeConfig(user="u", account="org-account", database="db", schema="public", warehouse="wh"),
    output_schema_type=StructuredDataset,
)
