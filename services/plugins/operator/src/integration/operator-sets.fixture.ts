import {
  type CustomResourceDefinition,
  DASK_DEFINITIONS,
  findDaskOperator,
  findTrainingOperator,
  startDaskOperator,
  startTrainingOperator,
  trainingDefinitions,
  uncheckedDefinition,
} from "@flyte-ts/test-servers";
import { testWatchdog } from "@flyte-ts/testing";
import { startSparkOperatorStandIn } from "./spark-operator.fixture.js";
import { logger, type TestCluster } from "./test-cluster.fixture.js";

/** An operator that this machine can run. */
export interface OperatorSet {
  readonly title: string;
  readonly taskTypes: readonly string[];
  readonly definitions: readonly CustomResourceDefinition[];
  /** True: the definitions have schemas. */
  readonly checked: boolean;
  /** Starts the operator, when its definitions exist; resolves to what stops it. */
  start(cluster: TestCluster): Promise<() => Promise<unknown>>;
}

/** Builds operators that are not built yet, which takes minutes. */
const install = process.env["OPERATORS"] === "full";
const onProgress = (what: string) => void process.stderr.write(`building ${what} (once, takes minutes) …\n`);
const watchdog = testWatchdog();

/** Finds the operators that this machine has, or may install; prints why others are skipped. */
export async function findOperatorSets(): Promise<OperatorSet[]> {
  const found = await Promise.allSettled([training(), dask(), Promise.resolve(spark())]);
  for (const each of found) if (each.status === "rejected") process.stderr.write(`skipped: ${(each.reason as Error).message}\n`);
  return found.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

async function training(): Promise<OperatorSet> {
  await findTrainingOperator({ install, onProgress });
  return {
    title: "the training operator",
    taskTypes: ["pytorch", "tensorflow", "mpi"],
    definitions: await trainingDefinitions(),
    checked: true,
    start: async ({ api: { kubeconfig } }) => (await startTrainingOperator({ kubeconfig, watchdog })).kill,
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

function spark(): OperatorSet {
  return {
    title: "a stand-in for the Spark operator",
    taskTypes: ["spark"],
    definitions: [uncheckedDefinition({ group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" })],
    checked: false,
    start: async ({ client }) => {
      await Promise.resolve();
      return startSparkOperatorStandIn(client, logger).stop;
    },
  };
}
