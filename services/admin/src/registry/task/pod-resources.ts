import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { parseQuantity, type Quantity } from "@flyte-ts/domain/quantity";
import { Resources_ResourceName } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { ContainerResources, Quantities } from "./resources.js";

/** Kubernetes names of the limited resources, compared case-insensitively. */
const limited: ReadonlyMap<string, Resources_ResourceName> = new Map([
  ["cpu", Resources_ResourceName.CPU],
  ["memory", Resources_ResourceName.MEMORY],
  ["ephemeral-storage", Resources_ResourceName.EPHEMERAL_STORAGE],
  ["gpu", Resources_ResourceName.GPU],
]);

/**
 * Returns the resources of each container of a pod except init containers. Ignores invalid values,
 * which the compiler rejects.
 */
export function podResources({ containers }: JsonObject): readonly ContainerResources[] {
  if (!Array.isArray(containers)) return [];
  return containers.map((container) => {
    const { requests, limits } = fields(fields(container)["resources"]);
    return { requests: quantities(requests), limits: quantities(limits) };
  });
}

function quantities(amounts: JsonValue | undefined): Quantities {
  const found = new Map<Resources_ResourceName, Quantity>();
  for (const [name, amount] of Object.entries(fields(amounts))) {
    const resource = limited.get(name.toLowerCase());
    // Kubernetes accepts numbers too.
    const quantity = typeof amount === "string" || typeof amount === "number" ? parseQuantity(String(amount)) : undefined;
    if (resource !== undefined && quantity !== undefined) found.set(resource, quantity);
  }
  return found;
}

function fields(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
