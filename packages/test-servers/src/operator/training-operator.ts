import { join } from "node:path";
import { freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";
import { findGoModule } from "../program/go-module.js";
import { findGoProgram } from "../program/go-program.js";
import type { InstallOptions } from "../program/install-options.js";
import { type CustomResourceDefinition, readDefinitions } from "./definitions.js";

const RECIPE = "training-operator";
const KINDS = ["pytorchjobs", "tfjobs", "mpijobs"];

/** Finds the program of the training operator's controllers, or builds it in minutes. */
export function findTrainingOperator(options?: InstallOptions): Promise<string> {
  const program = {
    name: RECIPE,
    version: "1.9.3",
    module: RECIPE,
    mainPackage: ".",
    overrideVariable: "FLYTE_TS_TRAINING_OPERATOR",
  };
  return findGoProgram(program, options);
}

/** Reads the definitions of PyTorchJob, TFJob and MPIJob in the operator's module. */
export async function trainingDefinitions(): Promise<readonly CustomResourceDefinition[]> {
  const module = "github.com/kubeflow/training-operator";
  const folder = await findGoModule({ title: "definitions of the training operator", recipe: RECIPE, module });
  return readDefinitions(
    join(folder, "manifests", "base", "crds"),
    KINDS.map((plural) => `kubeflow.org_${plural}.yaml`),
  );
}

export interface OperatorOptions {
  readonly kubeconfig: string;
  /** Ends the operator when this process dies. Default: it keeps running. */
  readonly watchdog?: ProcessWatchdog | undefined;
}

/** Starts the operator for all namespaces. Its kinds must exist. */
export async function startTrainingOperator({ kubeconfig, watchdog }: OperatorOptions): Promise<LocalServer> {
  const command = await findTrainingOperator();
  const port = await freePort();
  return startServerProcess({
    name: RECIPE,
    command,
    args: [`--kubeconfig=${kubeconfig}`, `--health-probe-bind-address=127.0.0.1:${port}`],
    url: `http://127.0.0.1:${port}/readyz`,
    port,
    stopSignal: "SIGTERM",
    watchdog,
    startTimeoutMs: 120_000,
  });
}
