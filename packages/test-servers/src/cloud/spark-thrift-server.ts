import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findOnPath, freePort, type ProcessWatchdog, runProgram } from "@flyte-ts/host";
import { type LocalServer, ServerStartError, startServerProcess } from "@flyte-ts/local-servers";
import type { InstallOptions } from "../program/install-options.js";
import { findPythonEnvironment } from "../program/python-environment.js";

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
export async function findSparkPython(options?: InstallOptions): Promise<string> {
  if (findOnPath("java") === undefined) throw new ServerStartError("Spark: Java, which runs it, is not on the PATH");
  const packages = { title: `PySpark ${VERSION}`, name: `spark-thrift-server-${VERSION}`, requirements: PACKAGES };
  return join(await findPythonEnvironment(packages, options), "python");
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
