/** Type, version and target of a task as flytekit's plugins serialise it. */
export interface ExpectedTemplate {
  readonly type: string;
  readonly version: number;
  readonly target: "container" | "sql" | undefined;
  /** Names of the fields of `custom`, sorted. */
  readonly custom: readonly string[];
}

const row = (type: string, version: number, target: ExpectedTemplate["target"], ...custom: readonly string[]): ExpectedTemplate => ({
  type,
  version,
  target,
  custom,
});

const SPARK = ["databricksConf", "executorPath", "mainApplicationFile"];

/** Templates by task. */
export const EXPECTED_TEMPLATES: Readonly<Record<string, ExpectedTemplate>> = {
  "light_tasks.pytorch": row("pytorch", 1, "container", "masterReplicas", "runPolicy", "workerReplicas"),
  "light_tasks.tensorflow": row("tensorflow", 1, "container", "chiefReplicas", "evaluatorReplicas", "psReplicas", "workerReplicas"),
  "light_tasks.mpi": row("mpi", 1, "container", "launcherReplicas", "slots", "workerReplicas"),
  "light_tasks.horovod": row("mpi", 1, "container", "launcherReplicas", "slots", "workerReplicas"),
  "light_tasks.ray": row(
    "ray",
    0,
    "container",
    "rayCluster",
    "runtimeEnv",
    "runtimeEnvYaml",
    "shutdownAfterJobFinishes",
    "ttlSecondsAfterFinished",
  ),
  "light_tasks.dask": row("dask", 0, "container", "scheduler", "workers"),
  "light_tasks.aws_batch": row(
    "aws-batch",
    0,
    "container",
    "parameters",
    "platformCapabilities",
    "propagateTags",
    "schedulingPriority",
    "tags",
  ),
  athena: row("presto", 0, undefined, "catalog", "routingGroup", "schema", "statement"),
  hive: row("hive", 0, undefined, "clusterLabel", "query", "tags"),
  "client_tasks.spark": row("spark", 0, "container", ...SPARK, "hadoopConf", "sparkConf"),
  "client_tasks.databricks_old": row("spark", 0, "container", ...SPARK, "databricksInstance", "sparkConf"),
  "client_tasks.databricks": row("databricks", 0, "container", ...SPARK, "databricksInstance", "databricksTokenSecret"),
  bigquery: row("bigquery_query_job_task", 0, "sql", "Domain", "Location", "ProjectID", "maximumBytesBilled", "useLegacySql"),
  snowflake: row("snowflake", 0, "sql"),
};
