import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheDir, createOnce, findOnPath, freePort, type ProcessWatchdog, runProgram } from "@flyte-ts/host";
import { type LocalServer, ServerStartError, startServerProcess } from "@flyte-ts/local-servers";
import { type CustomResourceDefinition, uncheckedDefinition } from "./definitions.js";

const VERSION = "2026.3.0";
const REQUIREMENTS = fileURLToPath(new URL("../../python/dask-operator/requirements.txt", import.meta.url));
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
  return process.env[OVERRIDE_VARIABLE] ?? (await installedPython());
}

async function installedPython(): Promise<string> {
  if (findOnPath("python3") === undefined) throw new ServerStartError("the Dask operator: Python, which runs it, is not on the PATH");
  const folder = join(cacheDir(), `dask-operator-${VERSION}`);
  const complete = join(folder, "complete");
  const python = join(folder, "bin", "python");
  const create = async () => {
    rmSync(folder, { recursive: true, force: true });
    await runProgram("python3", ["-m", "venv", folder]);
    await runProgram(python, ["-m", "pip", "install", "--quiet", "--no-deps", "-r", REQUIREMENTS]);
    writeFileSync(complete, "");
  };
  await createOnce(folder, { exists: () => existsSync(complete), create }).catch(failInstallation);
  return python;
}

function failInstallation(error: unknown): never {
  throw new ServerStartError(`the Dask operator ${VERSION} cannot be installed: ${(error as Error).message}`);
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
