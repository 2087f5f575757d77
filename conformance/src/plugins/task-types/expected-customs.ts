import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { DaskJobSchema } from "@flyte-ts/idl/flyteidl/plugins/dask_pb";
import { DistributedMPITrainingTaskSchema } from "@flyte-ts/idl/flyteidl/plugins/kubeflow/mpi_pb";
import { DistributedPyTorchTrainingTaskSchema } from "@flyte-ts/idl/flyteidl/plugins/kubeflow/pytorch_pb";
import { DistributedTensorflowTrainingTaskSchema } from "@flyte-ts/idl/flyteidl/plugins/kubeflow/tensorflow_pb";
import { PrestoQuerySchema } from "@flyte-ts/idl/flyteidl/plugins/presto_pb";
import { QuboleHiveJobSchema } from "@flyte-ts/idl/flyteidl/plugins/qubole_pb";
import { RayJobSchema } from "@flyte-ts/idl/flyteidl/plugins/ray_pb";
import { SparkJobSchema } from "@flyte-ts/idl/flyteidl/plugins/spark_pb";

/** `custom` of a task. */
export interface ExpectedCustom {
  readonly value: JsonObject;
  /** Message of which `value` is the JSON form, without other fields. Default: a free object. */
  readonly message?: DescMessage;
}

/** `resources` that name one CPU and 64Mi, as `flyteidl.core.Resources`. */
const SMALL = entries("1", "64Mi");
/** flytekit sends `resources` of a role also when the task names none. */
const ONE: JsonObject = { replicas: 1, resources: {} };
const TWO: JsonObject = { replicas: 2, resources: {} };

const SPARK: JsonObject = { mainApplicationFile: "local:///opt/main.py", executorPath: "/usr/bin/python3" };
const SPARK_CONF: JsonObject = {
  "spark.driver.cores": "1",
  "spark.driver.memory": "500m",
  "spark.executor.cores": "2",
  "spark.executor.memory": "600m",
  "spark.executor.instances": "3",
};

/**
 * `custom` by task: the settings in `conformance/python/task_types` in the JSON form of the type's
 * message. Default values are left out (Spark's `applicationType` PYTHON).
 */
export const EXPECTED_CUSTOMS: Readonly<Record<string, ExpectedCustom>> = {
  "light_tasks.pytorch": {
    message: DistributedPyTorchTrainingTaskSchema,
    value: {
      masterReplicas: { ...ONE, restartPolicy: "RESTART_POLICY_ON_FAILURE" },
      workerReplicas: { replicas: 2, image: "worker:v1", resources: SMALL },
      runPolicy: { cleanPodPolicy: "CLEANPOD_POLICY_ALL", ttlSecondsAfterFinished: 60, activeDeadlineSeconds: 600, backoffLimit: 3 },
    },
  },
  "pod_tasks.pytorch_pod": { message: DistributedPyTorchTrainingTaskSchema, value: { masterReplicas: ONE, workerReplicas: TWO } },
  "pod_tasks.elastic": {
    message: DistributedPyTorchTrainingTaskSchema,
    value: {
      elasticConfig: { rdzvBackend: "c10d", minReplicas: 2, maxReplicas: 3, nprocPerNode: 4, maxRestarts: 5 },
      workerReplicas: { replicas: 3 },
      runPolicy: { cleanPodPolicy: "CLEANPOD_POLICY_RUNNING", backoffLimit: 2 },
    },
  },
  "light_tasks.tensorflow": {
    message: DistributedTensorflowTrainingTaskSchema,
    value: {
      chiefReplicas: ONE,
      workerReplicas: { replicas: 2, resources: SMALL },
      psReplicas: { ...ONE, image: "ps:v1" },
      evaluatorReplicas: { ...ONE, restartPolicy: "RESTART_POLICY_ALWAYS" },
    },
  },
  "light_tasks.mpi": {
    message: DistributedMPITrainingTaskSchema,
    value: {
      launcherReplicas: ONE,
      workerReplicas: { replicas: 2, resources: SMALL, command: ["/usr/sbin/sshd", "-De"] },
      slots: 2,
    },
  },
  "light_tasks.horovod": { message: DistributedMPITrainingTaskSchema, value: { launcherReplicas: ONE, workerReplicas: TWO, slots: 2 } },
  "light_tasks.ray": {
    message: RayJobSchema,
    value: {
      rayCluster: {
        headGroupSpec: {
          rayStartParams: { "log-color": "false" },
          k8sPod: {
            metadata: {},
            primaryContainerName: "primary",
            podSpec: {
              containers: [
                { name: "ray-head", resources: { requests: { cpu: "1", memory: "64Mi" }, limits: { cpu: "1", memory: "64Mi" } } },
              ],
            },
          },
        },
        workerGroupSpec: [{ groupName: "small", replicas: 2, minReplicas: 1, maxReplicas: 3 }],
        enableAutoscaling: true,
      },
      // The older form of the runtime environment: JSON in base64.
      runtimeEnv: Buffer.from('{"pip": ["numpy"]}').toString("base64"),
      runtimeEnvYaml: "pip:\n- numpy\n",
      shutdownAfterJobFinishes: true,
      ttlSecondsAfterFinished: 30,
    },
  },
  "light_tasks.dask": {
    message: DaskJobSchema,
    value: { scheduler: { image: "scheduler:v1", resources: {} }, workers: { numberOfWorkers: 2, resources: SMALL } },
  },
  "light_tasks.aws_batch": {
    value: { parameters: { p: "v" }, schedulingPriority: 7, platformCapabilities: "EC2", propagateTags: true, tags: { team: "one" } },
  },
  athena: {
    message: PrestoQuerySchema,
    value: { routingGroup: "group", catalog: "catalog", schema: "db", statement: "SELECT {{ .inputs.a }}" },
  },
  hive: {
    message: QuboleHiveJobSchema,
    value: { clusterLabel: "db", tags: ["t"], query: { query: "SELECT {{ .inputs.a }} FROM t" } },
  },
  "client_tasks.spark": {
    message: SparkJobSchema,
    value: { ...SPARK, sparkConf: SPARK_CONF, hadoopConf: { "fs.a": "b" }, databricksConf: {} },
  },
  "client_tasks.databricks_old": {
    message: SparkJobSchema,
    value: {
      ...SPARK,
      sparkConf: SPARK_CONF,
      databricksConf: { run_name: "old", existing_cluster_id: "c" },
      databricksInstance: "old.example.com",
    },
  },
  // The name of the token's secret is no field of SparkJob.
  "client_tasks.databricks": {
    value: {
      ...SPARK,
      databricksConf: { run_name: "new", existing_cluster_id: "c" },
      databricksInstance: "new.example.com",
      databricksTokenSecret: "token",
    },
  },
  bigquery: {
    value: { ProjectID: "a-project", Location: "EU", Domain: "development", useLegacySql: false, maximumBytesBilled: "10" },
  },
};

function entries(cpu: string, memory: string): JsonObject {
  const both = [
    { name: "CPU", value: cpu },
    { name: "MEMORY", value: memory },
  ];
  return { requests: both, limits: both };
}
