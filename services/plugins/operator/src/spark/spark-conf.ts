import type { SparkJob } from "@flyte-ts/idl/flyteidl/plugins/spark_pb";
import type { SparkSettings } from "./settings.js";

export type SparkConf = Readonly<Record<string, string>>;

export interface SparkConfOptions {
  readonly job: SparkJob;
  readonly settings: SparkSettings;
  readonly podNamePrefix: string;
  /** Time of the request, ms. */
  readonly startTimeMs: number;
}

/** Builds the Spark configuration of an application: later entries of the list win. */
export function buildSparkConf({ job, settings, podNamePrefix, startTimeMs }: SparkConfOptions): Record<string, string> {
  const { executorPath } = job;
  const conf: Record<string, string> = {
    ...settings.defaultConfig,
    ...(executorPath === "" ? {} : { "spark.pyspark.python": executorPath, "spark.pyspark.driver.python": executorPath }),
  };
  for (const [key, value] of Object.entries(job.sparkConf)) Object.assign(conf, entry(key, value, settings.features));
  return {
    ...conf,
    ...coreLimit(conf, "driver"),
    ...coreLimit(conf, "executor"),
    "spark.kubernetes.executor.podNamePrefix": podNamePrefix,
    "spark.kubernetes.driverEnv.FLYTE_START_TIME": String(startTimeMs),
  };
}

const FEATURE = /^spark\.(?:flyteorg|flyte)\.(.+)\.enabled$/;

/** The configuration of a feature replaces the key that switches it on; unknown features stay. */
function entry(key: string, value: string, features: SparkSettings["features"]): SparkConf {
  const name = value.toLowerCase() === "true" ? FEATURE.exec(key)?.[1] : undefined;
  const feature = features.find((each) => each.name === name);
  return feature?.config ?? { [key]: value };
}

/** Limits the CPUs of a role to those that it requests, unless the task sets a limit. */
function coreLimit(conf: SparkConf, role: "driver" | "executor"): SparkConf {
  const key = `spark.kubernetes.${role}.limit.cores`;
  const cores = conf[`spark.kubernetes.${role}.request.cores`] ?? conf[`spark.${role}.cores`];
  return conf[key] !== undefined || cores === undefined ? {} : { [key]: cores };
}
