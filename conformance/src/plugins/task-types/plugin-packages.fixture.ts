import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDir, createOnce, runProgram } from "@flyte-ts/host";
import { ensurePythonEnvironment } from "@flyte-ts/local-stack";

const FLYTEKIT = "1.16.31";
const plugins = (...names: readonly string[]) => names.map((name) => `flytekitplugins-${name}==${FLYTEKIT}`);

/** Plugins that need no client library, and what the Kubeflow plugin imports. */
const LIGHT = [
  ...plugins("ray", "dask", "kfpytorch", "kftensorflow", "kfmpi", "awsbatch", "athena", "hive"),
  // Newer ones need Pydantic.
  "kubernetes==33.1.0",
  "websocket-client==1.9.2",
  "durationpy==0.11",
];

/** Plugins with their client libraries, and what those import. */
const CLIENTS = [
  ...plugins("spark", "bigquery", "snowflake"),
  // PySpark has hundreds of megabytes; its client is enough to serialise tasks.
  "pyspark-client==4.2.0",
  "google-cloud-bigquery==3.47.0",
  "google-cloud-bigquery-storage==2.43.0",
  "snowflake-connector-python==4.8.1",
  "platformdirs==4.14.8",
  "asn1crypto==1.5.1",
  "tomlkit==0.15.2",
  "sortedcontainers==2.4.0",
  "pytz==2026.6",
  "filelock==4.3.1",
  "pyopenssl==26.4.0",
];

/** Python with flytekit and its plugins. */
export interface PluginPython {
  /** Folder of programs. */
  readonly bin: string;
  /** Folder of the plugins' packages, for `PYTHONPATH`. */
  readonly packages: string;
}

/**
 * Installs flytekit's plugins once, in the cache. Packages are installed without their
 * dependencies: serialising a task imports no Ray, and `python/torch_stand_in` serves as PyTorch.
 */
export async function pluginPackages(): Promise<PluginPython> {
  const folder = join(cacheDir(), "task-type-plugins-full-1");
  const complete = join(folder, "complete");
  const packages = join(folder, "packages");
  const { bin } = await ensurePythonEnvironment({ onInstall: () => undefined });
  const create = async () => {
    rmSync(folder, { recursive: true, force: true });
    const options = ["install", "--quiet", "--no-deps", "--target", packages, ...LIGHT, ...CLIENTS];
    const uv = join(bin, "uv");
    const python = join(bin, "python");
    await (existsSync(uv)
      ? runProgram(uv, ["pip", ...options, "--native-tls", "--python", python])
      : runProgram(python, ["-m", "pip", ...options]));
    writeFileSync(complete, "");
  };
  await createOnce(folder, { exists: () => existsSync(complete), create });
  return { bin, packages };
}
