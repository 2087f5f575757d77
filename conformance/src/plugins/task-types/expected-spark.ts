import { expect } from "vitest";
import { PROGRAM } from "./comparable.js";
import { IMAGE } from "./expected-pods.js";

const sparkRole = (role: string, fields: object) => ({
  ...fields,
  affinity: {},
  image: IMAGE,
  env: ["FLYTE_MAX_ATTEMPTS"],
  serviceAccount: "spark",
  template: { spec: { containers: [{ name: `spark-kubernetes-${role}`, terminationMessagePolicy: "FallbackToLogsOnError" }] } },
});

/** Returns a SparkApplication; its name is in the configuration. */
export const sparkApplication = (hadoopConf: object) => (name: string) => ({
  type: "Python",
  mode: "cluster",
  image: IMAGE,
  mainApplicationFile: "local:///opt/main.py",
  arguments: PROGRAM,
  sparkConf: {
    "spark.pyspark.python": "/usr/bin/python3",
    "spark.pyspark.driver.python": "/usr/bin/python3",
    "spark.driver.cores": "1",
    "spark.driver.memory": "500m",
    "spark.executor.cores": "2",
    "spark.executor.instances": "3",
    "spark.executor.memory": "600m",
    "spark.kubernetes.driver.limit.cores": "1",
    "spark.kubernetes.executor.limit.cores": "2",
    "spark.kubernetes.executor.podNamePrefix": name,
    "spark.kubernetes.driverEnv.FLYTE_START_TIME": expect.stringMatching(/^\d{13}$/),
  },
  hadoopConf,
  restartPolicy: { type: "OnFailure", onSubmissionFailureRetries: 14 },
  driver: sparkRole("driver", { cores: 1, memory: "500m" }),
  executor: sparkRole("executor", { cores: 2, instances: 3, memory: "600m" }),
});
