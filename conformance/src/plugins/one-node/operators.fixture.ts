import { execFileSync } from "node:child_process";
import { SPARK_DEFINITIONS } from "@flyte-ts/test-operators";
import {
  DASK_DEFINITIONS,
  findDaskOperator,
  rayDefinitions,
  startDaskOperator,
  startRayOperator,
  startTrainingOperator,
  trainingDefinitions,
} from "@flyte-ts/test-servers";
import { testWatchdog } from "@flyte-ts/testing";
import { sparkObjects, startSpark } from "./spark-operator.fixture.js";

/** Namespace of the executions. */
export const NAMESPACE = "flytesnacks-development";

/**
 * Defines the kinds of the operators and starts the operators, which the first call on a machine
 * builds. Resolves to a function that stops them.
 */
export async function installOperators(kubeconfig: string): Promise<() => Promise<unknown>> {
  const kubectl = (args: readonly string[], input = "") =>
    execFileSync("kubectl", ["--kubeconfig", kubeconfig, ...args], { input, stdio: ["pipe", "ignore", "inherit"] });
  const definitions = [...DASK_DEFINITIONS, ...(await rayDefinitions()), ...(await trainingDefinitions()), ...SPARK_DEFINITIONS];
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  for (const object of [...definitions, namespace, ...sparkObjects(NAMESPACE)]) kubectl(["create", "-f", "-"], JSON.stringify(object));
  kubectl(["wait", "--for=condition=Established", "--timeout=60s", "customresourcedefinitions", "--all"]);
  const options = { kubeconfig, watchdog: testWatchdog() };
  const stops: (() => Promise<void>)[] = [];
  const stop = () => Promise.all(stops.map((each) => each()));
  try {
    stops.push((await startDaskOperator({ ...options, python: await findDaskOperator() })).stop);
    stops.push((await startRayOperator(options)).stop);
    stops.push((await startTrainingOperator(options)).stop);
    stops.push(await startSpark(kubeconfig));
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
