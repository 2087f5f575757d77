import type { LaunchKube } from "../kube/cluster.js";
import { isAlreadyExists, NAMESPACES } from "@flyte-ts/kubernetes";
import { classifyCreateError } from "../kube/create-outcome.js";
import { clusterUnavailable } from "../health/launch-error.js";

export async function ensureNamespace(kube: Pick<LaunchKube, "create">, name: string): Promise<void> {
  try {
    await kube.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  } catch (error) {
    // Forbidden: another component creates the namespaces here. A missing one fails the creation of
    // the resource.
    if (isAlreadyExists(error) || classifyCreateError(error) === "rejected") return;
    // The namespace precedes the resource, so the resource does not exist.
    throw clusterUnavailable(error, true);
  }
}
