import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDir, createOnce, findOnPath, freePort, type ProcessWatchdog, runProgram } from "@flyte-ts/host";
import { type LocalServer, ServerStartError, startServerProcess } from "@flyte-ts/local-servers";
import type { InstallOptions } from "../program/install-options.js";

const VERSION = "4.3.0";
/** Spark itself, and what a Python task needs to read its results. */
const PACKAGES = [`pyspark==${VERSION}`, "flytekit==1.16.31", "pyarrow==21.0.0"];
const MAIN_CLASS = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2";
/** The Java program creates the schema of its metastore. */
const START_TIMEOUT_MS = 900_000;

/**
 * Finds the Python of a virtual environment with PySpark, flytekit and PyArrow; else creates the
 * environment in the cache (some 740 MB), where concurrent callers share one.
 *
 * @throws ServerStartError without Java, or when the environment cannot be created.
 */
export async function findSparkPython({ onProgress }: InstallOptions = {}): Promise<string> {
  if (findOnPath("java") === undefined) throw new ServerStartError("Spark: Java, which runs it, is not on the PATH");
  const folder = join(cacheDir(), `spark-thrift-server-${VERSION}`);
  const python = join(folder, "bin", "python");
  const complete = join(folder, "complete");
  const create = async () => {
    onProgress?.(`PySpark ${VERSION}`);
    rmSync(folder, { recursive: true, force: true });
    await runProgram("python3", ["-m", "venv", folder]);
    await runProgram(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...PACKAGES]);
    writeFileSync(complete, "");
  };
  await createOnce(folder, { exists: () => existsSync(complete), create }).catch((cause: unknown) => {
    throw new ServerStartError(`PySpark ${VERSION} cannot be installed: ${(cause as Error).message}`);
  });
  return python;
}

export interface SparkThriftServerOptions {
  /** Python with PySpark. */
  readonly python: string;
  /** Folder of the metastore and the tables; it is created. */
  readonly folder: string;
  /** Ends the server when this process exits. Default: it keeps running. */
  readonly watchdog?: ProcessWatchdog | undefined;
}

/**
 * Starts Spark's Thrift server with one thread and the HTTP transport of HiveServer2. It checks no
 * passwords. The wheel of PySpark has its classes, though no script that starts it.
 */
export async function startSparkThriftServer({ python, folder, watchdog }: SparkThriftServerOptions): Promise<LocalServer> {
  mkdirSync(folder, { recursive: true });
  const home = (await runProgram(python, ["-c", "import pyspark; print(pyspark.__path__[0])"])).trim();
  const port = await freePort();
  const configuration = {
    "spark.ui.enabled": "false",
    "spark.sql.warehouse.dir": join(folder, "warehouse"),
    "spark.hadoop.hive.server2.transport.mode": "http",
    "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
    "spark.hadoop.hive.server2.thrift.http.port": String(port),
  };
  const settings = Object.entries(configuration).flatMap(([key, value]) => ["--conf", `${key}=${value}`]);
  return startServerProcess({
    name: "Spark's Thrift server",
    command: join(home, "bin", "spark-submit"),
    args: ["--class", MAIN_CLASS, "--master", "local[1]", "--driver-memory", "700m", ...settings, "spark-internal"],
    options: { cwd: folder, env: { ...process.env, SPARK_HOME: home, PYSPARK_PYTHON: python, SPARK_LOCAL_IP: "127.0.0.1" } },
    url: `http://127.0.0.1:${port}/cliservice`,
    port,
    stopSignal: "SIGTERM",
    startTimeoutMs: START_TIMEOUT_MS,
    watchdog,
  });
}
