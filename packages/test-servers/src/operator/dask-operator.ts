import { join } from "node:path";
import { freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";
import { findPythonEnvironment, pinnedRequirements } from "../program/python-environment.js";
import { type CustomResourceDefinition, uncheckedDefinition } from "./definitions.js";

const VERSION = "2026.3.0";
/** Names a Python that has the packages already. */
const OVERRIDE_VARIABLE = "FLYTE_TS_DASK_OPERATOR_PYTHON";

/**
 * Definitions of the operator's resources, without schemas: those of its package refer to schemas
 * of Kubernetes, which an API server does not resolve.
 */
export const DASK_DEFINITIONS: readonly CustomResourceDefinition[] = ["DaskCluster", "DaskJob", "DaskWorkerGroup", "DaskAutoscaler"].map(
  (kind) => uncheckedDefinition({ group: "kubernetes.dask.org", version: "v1", kind }),
);

/**
 * Finds a Python with the Dask operator: an environment of its own in the cache, which the first
 * call on a machine installs from PyPI (some 100 MB).
 *
 * @throws ServerStartError when Python is missing or a package cannot be installed
 */
export async function findDaskOperator(): Promise<string> {
  const requirements = pinnedRequirements("dask-operator");
  const packages = { title: `the Dask operator ${VERSION}`, name: `dask-operator-${VERSION}`, requirements };
  return process.env[OVERRIDE_VARIABLE] ?? join(await findPythonEnvironment(packages), "python");
}

export interface DaskOperatorOptions {
  /** Python with the operator's package. */
  readonly python: string;
  readonly kubeconfig: string;
  /** Ends the operator when this process exits. Default: it keeps running. */
  readonly watchdog?: ProcessWatchdog | undefined;
}

/** Starts the operator for all namespaces. */
export async function startDaskOperator({ python, kubeconfig, watchdog }: DaskOperatorOptions): Promise<LocalServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/healthz`;
  return startServerProcess({
    name: "dask-operator",
    command: python,
    args: ["-m", "kopf", "run", "-m", "dask_kubernetes.operator.controller", "--all-namespaces", `--liveness=${url}`],
    options: { env: { ...process.env, KUBECONFIG: kubeconfig } },
    url,
    port,
    stopSignal: "SIGTERM",
    watchdog,
    startTimeoutMs: 300_000,
  });
}
