import { defineService, leaderElectionPermission } from "@flyte-ts/service-manifest";

export const manifest = defineService({
  id: "plugin-web-api",
  description: "Runs tasks in services of the cloud: AWS Batch, Athena, BigQuery, HiveServer2, Trino.",
  plane: "data",
  optional: true,
  taskTypes: ["aws-batch", "container_array", "presto", "hive", "bigquery_query_job_task"],
  opsPort: 10_265,
  requires: { bus: {}, blobStore: {}, kubernetes: "own" },
  connects: {
    "batch.endpoint": "https",
    "athena.endpoint": "https",
    "bigquery.endpoint": "https",
    "hive.endpoint": "hive",
    "trino.endpoint": "trino",
  },
  secrets: [
    { variable: "FLYTE_TS_PLUGIN_WEB_API_HIVE__PASSWORD", secret: "flyte-hive", key: "password", optional: true },
    { variable: "FLYTE_TS_PLUGIN_WEB_API_HIVE__ACCESS_TOKEN", secret: "flyte-hive", key: "accessToken", optional: true },
    { variable: "FLYTE_TS_PLUGIN_WEB_API_TRINO__PASSWORD", secret: "flyte-trino", key: "password", optional: true },
    { variable: "FLYTE_TS_PLUGIN_WEB_API_TRINO__ACCESS_TOKEN", secret: "flyte-trino", key: "accessToken", optional: true },
  ],
  permissions: [leaderElectionPermission],
  kubernetes: {
    comment: "One replica leads, the other is a standby.",
    resources: { requests: { cpu: "100m", memory: "160Mi" }, limits: { memory: "1Gi" } },
    podFields: { LEAD__NAMESPACE: "metadata.namespace" },
  },
  settings: { kubernetes: { lead: { enabled: true } } },
  metricsPrefix: "flyte_plugin_",
});
