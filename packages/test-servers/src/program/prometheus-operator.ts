import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findOnPath } from "@flyte-ts/host";
import { ServerStartError } from "@flyte-ts/local-servers";

const MODULE = "github.com/prometheus-operator/prometheus-operator";

/**
 * Finds the folder with the resource definitions of the Prometheus operator, one file each, such as
 * `monitoring.coreos.com_servicemonitors.yaml`: from its Go module, fetched once (4 MB) and kept
 * with Go's other modules.
 *
 * @throws ServerStartError when Go is missing or the module cannot be fetched.
 */
export async function findPrometheusOperatorDefinitions(): Promise<string> {
  if (findOnPath("go") === undefined)
    throw new ServerStartError("definitions of the Prometheus operator: Go, which downloads them, is not on the PATH");
  try {
    const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", MODULE], {
      cwd: fileURLToPath(new URL("../../go/prometheus-operator", import.meta.url)),
      env: { ...process.env, GOWORK: "off", GOFLAGS: "-mod=mod" },
    });
    return join((JSON.parse(stdout) as { readonly Dir: string }).Dir, "example", "prometheus-operator-crd");
  } catch (error) {
    throw new ServerStartError(`definitions of the Prometheus operator: ${(error as Error).message}`);
  }
}
