import { join } from "node:path";
import { findOnPath } from "@flyte-ts/host";
import { ServerStartError } from "@flyte-ts/local-servers";
import type { InstallOptions } from "./install-options.js";
import { findPythonEnvironment, pinnedRequirements } from "./python-environment.js";

const VERSION = "4.3.0";
/** Names a `spark-submit` to use instead. */
const OVERRIDE_VARIABLE = "FLYTE_TS_SPARK_SUBMIT";

/**
 * Finds `spark-submit` of PySpark, or installs it from PyPI (some 450 MB).
 *
 * @throws ServerStartError when it cannot be installed, or Java is missing
 */
export async function findSparkSubmit(options?: InstallOptions): Promise<string> {
  const title = `spark-submit ${VERSION}`;
  if (findOnPath("java") === undefined) throw new ServerStartError(`${title}: Java, which runs it, is not on the PATH`);
  const override = process.env[OVERRIDE_VARIABLE];
  if (override) return override;
  const packages = { title, name: `pyspark-${VERSION}`, requirements: pinnedRequirements("spark") };
  return join(await findPythonEnvironment(packages, options), "spark-submit");
}
