import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDir, createOnce, runProgram } from "@flyte-ts/host";
import { ensurePythonEnvironment } from "@flyte-ts/local-stack";

const FLYTEKIT = "1.16.31";
/** Packages that `pyflyte serve connector` imports and flytekit does not require. */
const SERVER = [`flytekit==${FLYTEKIT}`, "prometheus-client==0.26.0", "httpx==0.28.1"];

/** Requirements of flytekit's connectors. */
const OPENAI = [`flytekitplugins-openai==${FLYTEKIT}`, "openai==3.57.0"];
const ALL = [
  ...OPENAI,
  `flytekitplugins-bigquery==${FLYTEKIT}`,
  "google-cloud-bigquery==3.47.0",
  // Newer ones require another NumPy than the BigQuery plugin.
  "pyarrow==21.0.0",
  `flytekitplugins-snowflake==${FLYTEKIT}`,
  "snowflake-connector-python==4.8.1",
  "fakesnow[server]==0.12.1",
  `flytekitplugins-awssagemaker==${FLYTEKIT}`,
  "aioboto3==15.5.0",
  "aiohttp==3.14.5",
  "pandas==3.0.6",
];
/** Without their dependencies: PySpark has hundreds of megabytes, its client is enough. */
const ALONE = [`flytekitplugins-spark==${FLYTEKIT}`, "pyspark-client==4.2.0"];

/** Environments: that of the ordinary test, and that of all connectors. */
const SETS = { openai: { packages: OPENAI, alone: [] }, all: { packages: ALL, alone: ALONE } };

export type ConnectorSet = keyof typeof SETS;

/** Creates the Python environment of connectors once, in the cache. Returns its `bin` folder. */
export async function connectorEnvironment(set: ConnectorSet): Promise<string> {
  const folder = join(cacheDir(), `connector-plugins-${set}-1`);
  const complete = join(folder, "complete");
  const signal = new AbortController().signal;
  const create = async () => {
    const { bin } = await ensurePythonEnvironment({ onInstall: () => undefined, signal });
    const python = join(folder, "bin", "python");
    await runProgram(join(bin, "python"), ["-m", "venv", "--clear", "--without-pip", folder]);
    const install = await installer(bin, python);
    const { packages, alone } = SETS[set];
    await install([...SERVER, ...packages]);
    if (alone.length > 0) await install(["--no-deps", ...alone]);
    writeFileSync(complete, "");
  };
  await createOnce(folder, { exists: () => existsSync(complete), create });
  return join(folder, "bin");
}

/** Installs with uv where the environment of stacks has it, else with its pip. */
async function installer(bin: string, python: string): Promise<(args: readonly string[]) => Promise<string>> {
  const uv = join(bin, "uv");
  if (existsSync(uv)) return (args) => runProgram(uv, ["pip", "install", "--quiet", "--native-tls", "--python", python, ...args]);
  return (args) => runProgram(join(bin, "python"), ["-m", "pip", "--python", python, "install", "--quiet", ...args]);
}
