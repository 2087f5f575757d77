import { SPARK_DEFINITIONS, startSparkOperator, startSparkSubmit } from "@flyte-ts/test-operators";
import {
  type CustomResourceDefinition,
  DASK_DEFINITIONS,
  findDaskOperator,
  findRayOperator,
  findSparkSubmit,
  findTrainingOperator,
  rayDefinitions,
  startDaskOperator,
  startRayOperator,
  startTrainingOperator,
  trainingDefinitions,
} from "@flyte-ts/test-servers";
import { testWatchdog } from "@flyte-ts/testing";
import { createDriver } from "./spark/driver.fixture.js";
import { logger, type TestCluster } from "./test-cluster.fixture.js";

/** An operator that this machine can run. */
export interface OperatorSet {
  readonly title: string;
  readonly taskTypes: readonly string[];
  readonly definitions: readonly CustomResourceDefinition[];
  /** True: the definitions have schemas. */
  readonly checked: boolean;
  /** The `spark-submit` that the operator uses. Default: none. */
  readonly sparkSubmit?: string;
  /** Starts the operator, when its definitions exist; resolves to what stops it. */
  start(cluster: TestCluster): Promise<() => Promise<unknown>>;
}

/** True: PySpark is installed, and Spark jobs are submitted by it. */
const installsPySpark = process.env["OPERATORS"] === "full";
const onProgress = (what: string) => void process.stderr.write(`building ${what} (once, takes minutes) …\n`);
const watchdog = testWatchdog();

/**
 * Finds the operators that this machine has or can build, which takes minutes once; prints why
 * others are skipped.
 */
export async function findOperatorSets(): Promise<OperatorSet[]> {
  const found = await Promise.allSettled([training(), ray(), dask(), spark()]);
  for (const each of found) if (each.status === "rejected") process.stderr.write(`skipped: ${(each.reason as Error).message}\n`);
  return found.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

async function training(): Promise<OperatorSet> {
  await findTrainingOperator({ onProgress });
  return {
    title: "the training operator",
    taskTypes: ["pytorch", "tensorflow", "mpi"],
    definitions: await trainingDefinitions(),
    checked: true,
    start: async ({ api: { kubeconfig } }) => (await startTrainingOperator({ kubeconfig, watchdog })).kill,
  };
}

async function ray(): Promise<OperatorSet> {
  await findRayOperator({ onProgress });
  return {
    title: "KubeRay",
    taskTypes: ["ray"],
    definitions: await rayDefinitions(),
    checked: true,
    start: async ({ api: { kubeconfig }, dashboards }) =>
      (await startRayOperator({ kubeconfig, dashboardProxy: dashboards.url, watchdog })).kill,
  };
}

async function dask(): Promise<OperatorSet> {
  const python = await findDaskOperator();
  return {
    title: "the Dask operator",
    taskTypes: ["dask"],
    definitions: DASK_DEFINITIONS,
    checked: false,
    start: async ({ api: { kubeconfig } }) => (await startDaskOperator({ python, kubeconfig, watchdog })).kill,
  };
}

/** Uses the real `spark-submit` if PySpark may be installed. */
async function spark(): Promise<OperatorSet> {
  const command = installsPySpark ? await findSparkSubmit({ onProgress }) : undefined;
  return {
    title: command === undefined ? "a stand-in for the Spark operator" : "a Spark operator with spark-submit",
    taskTypes: ["spark"],
    ...(command === undefined ? {} : { sparkSubmit: command }),
    definitions: SPARK_DEFINITIONS,
    checked: false,
    start: async ({ client, api }) => {
      await Promise.resolve();
      const spark = command === undefined ? undefined : startSparkSubmit({ command, api });
      const operator = startSparkOperator({ client, logger, submit: spark?.submit ?? createDriver(client) });
      return async () => {
        await operator.stop();
        await spark?.stop();
      };
    },
  };
}
