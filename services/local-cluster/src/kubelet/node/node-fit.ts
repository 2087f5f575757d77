import { type Json, type KubeObject, at, isObject, listAt, textAt } from "../../object/model.js";
import type { Amounts } from "../../api/pod/resources.js";

export interface NodeCapacity {
  readonly allocatable: Amounts;
  readonly labels: Readonly<Record<string, string>>;
  readonly used: Amounts;
  readonly pods: number;
}

/**
 * Returns why a pod does not fit on the node now, in the scheduler's words; undefined when it fits.
 */
export function unschedulableReason(pod: KubeObject, requests: Amounts, node: NodeCapacity): string | undefined {
  const claim = listAt(pod, "spec", "volumes")
    .map((v) => textAt(v, "persistentVolumeClaim", "claimName"))
    .find((name) => name !== undefined);
  if (claim !== undefined)
    return `0/1 nodes are available: persistentvolumeclaim ${JSON.stringify(claim)} not found. ${preemption("Preemption is not helpful for scheduling")}`;
  if (!matchesSelectors(pod, node.labels))
    return `0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. ${preemption("Preemption is not helpful for scheduling")}`;
  const short: string[] = [];
  if (node.pods + 1 > Number((node.allocatable.get("pods") ?? 0n) / 1000n)) short.push("1 Too many pods");
  for (const [name, amount] of requests) {
    if (amount > 0n && (node.used.get(name) ?? 0n) + amount > (node.allocatable.get(name) ?? 0n)) short.push(`1 Insufficient ${name}`);
  }
  if (short.length === 0) return undefined;
  return `0/1 nodes are available: ${short.join(", ")}. ${preemption("No preemption victims found for incoming pod")}`;
}

const preemption = (why: string) => `preemption: 0/1 nodes are available: 1 ${why}.`;

function matchesSelectors(pod: KubeObject, labels: Readonly<Record<string, string>>): boolean {
  const selector = at(pod, "spec", "nodeSelector");
  if (isObject(selector) && !Object.entries(selector).every(([key, value]) => labels[key] === value)) return false;
  const terms = at(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
  if (!Array.isArray(terms) || terms.length === 0) return true;
  return (terms as readonly Json[]).some((term) =>
    listAt(term, "matchExpressions").every((expression) => matchesExpression(expression, labels)),
  );
}

function matchesExpression(expression: Json, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[textAt(expression, "key") ?? ""];
  const values = listAt(expression, "values");
  switch (textAt(expression, "operator")) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(values[0]);
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}
