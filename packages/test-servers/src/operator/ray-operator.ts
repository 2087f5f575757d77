import { join } from "node:path";
import { freePort } from "@flyte-ts/host";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";
import { findGoModule } from "../program/go-module.js";
import { findGoProgram } from "../program/go-program.js";
import type { InstallOptions } from "../program/install-options.js";
import { type CustomResourceDefinition, readDefinitions, uncheckedDefinition } from "./definitions.js";
import type { OperatorOptions } from "./training-operator.js";

const RECIPE = "ray-operator";
const MODULE = "github.com/ray-project/kuberay/ray-operator";

/** Finds KubeRay's program, or builds it in minutes. */
export function findRayOperator(options?: InstallOptions): Promise<string> {
  return findGoProgram(
    { name: RECIPE, version: "1.5.1", module: RECIPE, mainPackage: MODULE, overrideVariable: "FLYTE_TS_RAY_OPERATOR" },
    options,
  );
}

/**
 * Reads the definitions of RayJob and RayCluster in the operator's module. That of RayService has
 * no schema, since no job uses it.
 */
export async function rayDefinitions(): Promise<readonly CustomResourceDefinition[]> {
  const folder = await findGoModule({ title: "definitions of KubeRay", recipe: RECIPE, module: MODULE });
  const files = ["rayjobs", "rayclusters"].map((plural) => `ray.io_${plural}.yaml`);
  const services = uncheckedDefinition({ group: "ray.io", version: "v1", kind: "RayService" });
  return [...readDefinitions(join(folder, "config", "crd", "bases"), files), services];
}

export interface RayOperatorOptions extends OperatorOptions {
  /**
   * HTTP proxy through which the operator calls the dashboards of Ray heads. Default: the proxy of
   * the Kubernetes API.
   */
  readonly dashboardProxy?: string;
}

/** Starts the operator for all namespaces, without its webhooks. Its kinds must exist. */
export async function startRayOperator({ kubeconfig, dashboardProxy, watchdog }: RayOperatorOptions): Promise<LocalServer> {
  const command = await findRayOperator();
  const port = await freePort();
  return startServerProcess({
    name: RECIPE,
    command,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--health-probe-bind-address=127.0.0.1:${port}`,
      "--metrics-addr=0",
      "--enable-leader-election=false",
      "--reconcile-concurrency=4",
      ...(dashboardProxy === undefined ? ["--use-kubernetes-proxy"] : []),
    ],
    // Calls of the API server use TLS, which this variable does not concern.
    options: { env: { ...process.env, ...(dashboardProxy === undefined ? {} : { HTTP_PROXY: dashboardProxy }) } },
    url: `http://127.0.0.1:${port}/readyz`,
    port,
    stopSignal: "SIGTERM",
    watchdog,
    startTimeoutMs: 120_000,
  });
}
