import type { JsonObject } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { SparkApplication_Type as Type, SparkJobSchema } from "@flyte-ts/idl/flyteidl/plugins/spark_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { primaryOf } from "../build/containers.js";
import { badSpecification, decodeCustom } from "../build/custom.js";
import type { RolePodBuilder } from "../build/role-pod-builder.js";
import { buildRole, mergeSparkPod } from "./role.js";
import type { SparkSettings } from "./settings.js";
import { buildSparkConf } from "./spark-conf.js";

const TYPES: Readonly<Record<Type, string>> = { [Type.PYTHON]: "Python", [Type.JAVA]: "Java", [Type.SCALA]: "Scala", [Type.R]: "R" };
const SUBMISSION_RETRIES = 14;

/**
 * Builds the spec of a SparkApplication. The driver is never interruptible: its loss ends the job.
 *
 * @throws PermanentFailure for a task without main file and class
 */
export function buildSparkApplication(request: TaskRequest, pods: RolePodBuilder, settings: SparkSettings): JsonObject {
  const job = decodeCustom(SparkJobSchema, request);
  const { mainApplicationFile, mainClass, hadoopConf } = job;
  if (mainApplicationFile === "" && mainClass === "")
    throw badSpecification("template.custom: either mainApplicationFile or mainClass is required");
  const driver = mergeSparkPod(pods.build({ interruptible: false }), job.driverPod);
  const executor = mergeSparkPod(pods.build(), job.executorPod);
  const container = primaryOf(executor.spec, executor.primaryContainer);
  const startTimeMs = request.requestedAt === undefined ? 0 : timestampDate(request.requestedAt).getTime();
  const sparkConf = buildSparkConf({ job, settings, podNamePrefix: pods.jobName, startTimeMs });
  const batchScheduler = sparkConf["spark.batchScheduler"] ?? "";
  const maxAttempts = (request.template?.metadata?.retries?.retries ?? 0) + 1;
  const context = { conf: sparkConf, settings, maxAttempts };
  return {
    type: TYPES[job.applicationType] ?? "Python",
    mode: "cluster",
    ...(container?.image ? { image: container.image } : {}),
    ...(mainApplicationFile === "" ? {} : { mainApplicationFile }),
    ...(mainClass === "" ? {} : { mainClass }),
    arguments: [...(container?.args ?? [])],
    sparkConf,
    hadoopConf: { ...hadoopConf },
    restartPolicy: { type: "OnFailure", onSubmissionFailureRetries: SUBMISSION_RETRIES },
    ...(batchScheduler === "" ? {} : { batchScheduler }),
    driver: buildRole(driver, { role: "driver", ...context }),
    executor: buildRole(executor, { role: "executor", ...context }),
  };
}
