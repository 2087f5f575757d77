import { join } from "node:path";
import { findGoModule } from "./go-module.js";

/**
 * Finds the folder with the resource definitions of the Prometheus operator, one file each, such as
 * `monitoring.coreos.com_servicemonitors.yaml`, in its Go module (4 MB).
 *
 * @throws ServerStartError when Go is missing or the module cannot be fetched.
 */
export async function findPrometheusOperatorDefinitions(): Promise<string> {
  const folder = await findGoModule({
    title: "definitions of the Prometheus operator",
    recipe: "prometheus-operator",
    module: "github.com/prometheus-operator/prometheus-operator",
  });
  return join(folder, "example", "prometheus-operator-crd");
}
