import { type Json, type KubeObject, at, isObject, listAt, textAt } from "../../object/model.js";
import { parseQuantity } from "../../object/quantity.js";

export type Amounts = Map<string, bigint>;

/**
 * Sums a pod's requests or limits in thousandths: all containers, or the largest init container if
 * that is more.
 */
export function podResources(pod: KubeObject, part: "requests" | "limits"): Amounts {
  const spec = pod["spec"];
  const total: Amounts = new Map();
  for (const container of listAt(spec, "containers")) add(total, containerResources(container, part));
  const sidecars = listAt(spec, "initContainers").filter((c) => textAt(c, "restartPolicy") === "Always");
  for (const container of sidecars) add(total, containerResources(container, part));
  for (const container of listAt(spec, "initContainers")) {
    for (const [name, amount] of containerResources(container, part)) if (amount > (total.get(name) ?? 0n)) total.set(name, amount);
  }
  return total;
}

export function containerResources(container: Json, part: "requests" | "limits"): Amounts {
  const list = at(container, "resources", part);
  return new Map(isObject(list) ? Object.entries(list).map(([name, value]) => [name, parseQuantity(value)]) : []);
}

export function add(total: Amounts, more: Amounts): void {
  for (const [name, amount] of more) total.set(name, (total.get(name) ?? 0n) + amount);
}

export function isEnded(pod: KubeObject): boolean {
  const phase = textAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed";
}
