import type { LaunchKube } from "../kube/cluster.js";
import { isAlreadyExists, NAMESPACES } from "@flyte-ts/kubernetes";
import { classifyCreateError } from "../kube/create-outcome.js";
import { clusterUnavailable } from "../health/launch-error.js";

export async function ensureNamespace(kube: Pick<LaunchKube, "create">, name: string): Promise<void> {
  try {
    await kube.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  } catch (error) {
    // Rejected: another component creates the namespaces here. If the namespace is missing, the
    // creation of the resource fails.
    if (isAlreadyExists(error) || classifyCreateError(error) === "rejected") return;
    // The resource is created after its namespace, so it does not exist.
    throw clusterUnavailable(error, true);
  }
}
