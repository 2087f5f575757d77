import { type SparkApplication_Type as Type, SparkApplication_TypeSchema, SparkJobSchema } from "@flyte-ts/idl/flyteidl/plugins/spark_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { InvalidPodSpecError } from "../build/invalid-pod-spec.js";
import type { Container } from "../pod-types.js";
import { customMessage } from "./custom-message.js";
import { cpuCount, withVariables } from "./primary-container.js";

/** Value of SparkApplication.Type.PYTHON. */
const PYTHON: Type = 0;

/** Settings that a cluster needs, and that local mode rejects or sets itself. */
const CLUSTER_SETTINGS =
  /^spark\.(master$|submit\.|kubernetes\.|executor\.(instances|cores)$|driver\.(host|bindAddress|port)$|dynamicAllocation\.|shuffle\.service\.|pyspark\.|batchScheduler$|flyte\.|flyteorg\.)/;

/** Settings of local mode: nothing listens beyond loopback. */
const LOCAL_SETTINGS = { "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false" };

/**
 * Runs Spark in local mode inside of the task's process. flytekit leaves master and settings to
 * spark-submit, and PySpark reads the arguments of spark-submit from PYSPARK_SUBMIT_ARGS.
 *
 * @throws InvalidPodSpecError for an application that is not in Python
 */
export function sparkContainer(container: Container, { template }: TaskRequest): Container {
  const { applicationType, mainClass, sparkConf, hadoopConf } = customMessage(SparkJobSchema, template?.custom);
  if (applicationType !== PYTHON) {
    const name = SparkApplication_TypeSchema.value[applicationType]?.name ?? String(applicationType);
    throw new InvalidPodSpecError(`custom.applicationType: is ${name}; ${PYTHON_ONLY}`);
  }
  if (mainClass !== "") throw new InvalidPodSpecError(`custom.mainClass: is ${JSON.stringify(mainClass)}; ${PYTHON_ONLY}`);
  const settings = {
    ...LOCAL_SETTINGS,
    ...Object.fromEntries(Object.entries(sparkConf).filter(([name]) => !CLUSTER_SETTINGS.test(name))),
    ...Object.fromEntries(Object.entries(hadoopConf).map(([name, value]) => [`spark.hadoop.${name}`, value])),
  };
  const words = [
    "--master",
    `local[${threads(sparkConf, cpuCount(container))}]`,
    ...Object.entries(settings).flatMap(([name, value]) => ["--conf", `${name}=${value}`]),
    "pyspark-shell",
  ];
  return withVariables(container, { PYSPARK_SUBMIT_ARGS: words.map(shellWord).join(" ") });
}

const PYTHON_ONLY = "without a Spark operator a Spark task runs as one pod, which runs Python functions only";

/** Cores of all executors, but not more than the CPUs of the pod. */
function threads(conf: Readonly<Record<string, string>>, cpus: number): number {
  const count = (name: string) => Math.max(1, Number.parseInt(conf[name] ?? "", 10) || 1);
  const [instances, cores] = [conf["spark.executor.instances"], conf["spark.executor.cores"]];
  // A task that sets neither instances nor cores uses all CPUs of its pod.
  if (instances === undefined && cores === undefined) return cpus;
  return Math.min(count("spark.executor.instances") * count("spark.executor.cores"), cpus);
}

/** Quotes a word for a POSIX shell: PySpark splits the arguments by these rules. */
function shellWord(text: string): string {
  return /^[\w./:=@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}
