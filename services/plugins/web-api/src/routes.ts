import type { WebApiConfig } from "./config.js";

export type ApiId = "batch" | "athena" | "bigquery" | "hive" | "trino";

/**
 * API of each task type that the settings serve. With Trino configured, it serves `presto` instead
 * of Athena; with HiveServer2, that serves `hive`.
 */
export function routesOf({ batch, athena, bigquery, hive, trino }: Partial<Pick<WebApiConfig, ApiId>>): ReadonlyMap<string, ApiId> {
  return new Map<string, ApiId>([
    ...(batch === undefined
      ? []
      : ([
          ["aws-batch", "batch"],
          ["container_array", "batch"],
        ] as const)),
    ...(athena === undefined
      ? []
      : ([
          ["presto", "athena"],
          ["hive", "athena"],
        ] as const)),
    ...(trino === undefined ? [] : ([["presto", "trino"]] as const)),
    ...(hive === undefined ? [] : ([["hive", "hive"]] as const)),
    ...(bigquery === undefined ? [] : ([["bigquery_query_job_task", "bigquery"]] as const)),
  ]);
}
