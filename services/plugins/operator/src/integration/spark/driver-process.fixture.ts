import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CONFIG_MAPS, type KubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import { testWatchdog } from "@flyte-ts/testing";
import { sparkEnvironment } from "@flyte-ts/test-operators";

export interface DriverProcessOptions {
  readonly client: KubeClient;
  /** Path of `spark-submit`. */
  readonly sparkSubmit: string;
  /** Folder for the driver's files. */
  readonly folder: string;
  /** Variables beside those of the pod. */
  readonly env: Readonly<Record<string, string>>;
}

/** Name of the properties in the ConfigMap, and of their file. */
const PROPERTIES = "spark.properties";

/**
 * Runs the program of a driver's pod as a process of this machine, as the entry point of Spark's
 * images does. The driver itself is the only executor: it cannot start pods.
 */
export async function runDriver(pod: Pod, options: DriverProcessOptions): Promise<{ readonly exitCode: number }> {
  const { client, sparkSubmit, folder, env } = options;
  const properties = join(folder, PROPERTIES);
  writeFileSync(properties, await readProperties(pod, client));
  const [container] = pod.spec.containers;
  // The arguments of the entry point: `driver`, the properties' file in the pod, and the program.
  const [role, flag, , ...program] = container?.args ?? [];
  if (role !== "driver" || flag !== "--properties-file") throw new Error(`not a driver: ${container?.args?.join(" ")}`);
  const local = { "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false" };
  const conf = Object.entries(local).flatMap(([key, value]) => ["--conf", `${key}=${value}`]);
  const args = ["--master", "local[1]", "--deploy-mode", "client", ...conf, "--properties-file", properties, ...program];
  const own = Object.fromEntries((container?.env ?? []).flatMap(({ name: key, value }) => (value === undefined ? [] : [[key, value]])));
  const child = spawn(sparkSubmit, args, {
    cwd: folder,
    env: { ...sparkEnvironment(sparkSubmit), ...own, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  testWatchdog().watch(child, "SIGKILL");
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve({ exitCode: code ?? 1 }));
  });
}

/** Reads Spark's properties; further ConfigMaps of the pod hold the template of executors. */
async function readProperties({ metadata: { namespace }, spec: { volumes = [] } }: Pod, client: KubeClient): Promise<string> {
  for (const { configMap } of volumes as readonly ConfigMapVolume[]) {
    if (configMap?.name === undefined) continue;
    const { data } = (await client.get<ConfigMap>(CONFIG_MAPS, { namespace, name: configMap.name })) ?? {};
    const properties = data?.[PROPERTIES];
    if (properties !== undefined) return properties;
  }
  throw new Error(`no ConfigMap of the driver has ${PROPERTIES}`);
}

interface ConfigMapVolume {
  readonly configMap?: { readonly name?: string };
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
