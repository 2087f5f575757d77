/** Type, version and target of a task as flytekit's plugins serialise it. */
export interface ExpectedTemplate {
  readonly type: string;
  readonly version: number;
  readonly target: "container" | "k8sPod" | "sql" | undefined;
  readonly config: Readonly<Record<string, string>>;
}

const row = (
  type: string,
  version: number,
  target: ExpectedTemplate["target"],
  config: ExpectedTemplate["config"] = {},
): ExpectedTemplate => ({ type, version, target, config });

/** Templates by task. */
export const EXPECTED_TEMPLATES: Readonly<Record<string, ExpectedTemplate>> = {
  "light_tasks.pytorch": row("pytorch", 1, "container"),
  "pod_tasks.pytorch_pod": row("pytorch", 1, "k8sPod", { primary_container_name: "trainer" }),
  "pod_tasks.elastic": row("pytorch", 1, "k8sPod", { primary_container_name: "primary" }),
  "light_tasks.tensorflow": row("tensorflow", 1, "container"),
  "light_tasks.mpi": row("mpi", 1, "container"),
  "light_tasks.horovod": row("mpi", 1, "container"),
  "light_tasks.ray": row("ray", 0, "container"),
  "light_tasks.dask": row("dask", 0, "container"),
  "light_tasks.aws_batch": row("aws-batch", 0, "container", { platformCapabilities: "EC2" }),
  athena: row("presto", 0, undefined),
  hive: row("hive", 0, undefined),
  "client_tasks.spark": row("spark", 0, "container"),
  "client_tasks.databricks_old": row("spark", 0, "container"),
  "client_tasks.databricks": row("databricks", 0, "container"),
  bigquery: row("bigquery_query_job_task", 0, "sql"),
  snowflake: row("snowflake", 0, "sql", {
    user: "u",
    account: "org-account",
    database: "db",
    schema: "public",
    warehouse: "wh",
  }),
};

/** An elastic task with one node is an ordinary pod, which the tests of pods run. */
export const ELASTIC_ONE_NODE = row("python-task", 1, "k8sPod", { primary_container_name: "primary" });
