import {
  blobStoreSettings,
  checkKubernetesSettings,
  kubernetesSettings,
  leaderElectionSettings,
  logLevel,
  natsSettings,
  opsSettings,
} from "@flyte-ts/config";
import { z } from "zod";
import { athenaSettings, batchSettings, bigQuerySettings, hiveSettings, trinoSettings } from "./config/api-settings.js";
import { manifest } from "./manifest.js";

export const webApiConfig = z.strictObject({
  nats: natsSettings,
  /** Leader election among the replicas of one data plane: one serves, the others are standbys. */
  lead: leaderElectionSettings(manifest.id),
  kubernetes: z.strictObject(kubernetesSettings).superRefine(checkKubernetesSettings).prefault({}),
  storage: z.strictObject(blobStoreSettings).prefault({}),
  /** AWS Batch, for `aws-batch` and `container_array`; absent: these types are not served. */
  batch: batchSettings.optional(),
  /**
   * Amazon Athena, for `hive` without `hive` settings and `presto` without `trino` settings;
   * absent: these are not served.
   */
  athena: athenaSettings.optional(),
  /** BigQuery, for `bigquery_query_job_task`; absent: the type is not served. */
  bigquery: bigQuerySettings.optional(),
  /** HiveServer2 or Spark's Thrift server, for `hive` instead of Athena; absent: off. */
  hive: hiveSettings.optional(),
  /** Trino, for `presto` instead of Athena; absent: Athena runs `presto`. */
  trino: trinoSettings.optional(),
  /** Maximum number of concurrent readings of job states per API. */
  readers: z.int().min(1).default(32),
  /** Duration of an API outage after which an attempt fails with a system error, ms. */
  outageMs: z
    .int()
    .min(0)
    .default(10 * 60_000),
  /** Maximum wait for an aborted job to stop before the abort is repeated, ms. */
  stopTimeoutMs: z.int().min(0).max(30_000).default(20_000),
  /** Maximum of unacknowledged requests per task type. */
  maxInFlight: z.int().min(1).default(256),
  /**
   * Name of the data plane in admin's `clusters`, the same as propeller's; empty for a single one.
   */
  cluster: z.string().default(""),
  /** Name of the data plane in events. Default: `cluster`, or `propeller` where that is empty. */
  producerId: z.string().optional(),
  logLevel,
  ops: opsSettings(manifest.opsPort),
});

export type WebApiConfig = z.infer<typeof webApiConfig>;
