import { type JsonObject, type KubeObject, at, isObject, listAt, textAt } from "../../object/model.js";
import { formatQuantity, parseQuantity } from "../../object/quantity.js";
import type { ObjectStore } from "../../store/object-store.js";
import { ApiError, forbidden } from "../api-error.js";
import { STORAGE } from "../type/built-in-types.js";
import { add, type Amounts, containerResources, isEnded, podResources } from "./resources.js";
import type { ResourceType } from "../type/resource-type.js";

/** Quota names that count objects instead of resources. */
const COUNTED_RESOURCES: Readonly<Record<string, string>> = {
  pods: STORAGE.pods,
  secrets: STORAGE.secrets,
  configmaps: STORAGE.configMaps,
  resourcequotas: STORAGE.quotas,
};

/**
 * Returns the storage key of the objects that a quota name counts: `pods`, `count/pods`,
 * `count/flyteworkflows.flyte.lyft.com`.
 */
function countedResource(name: string): string | undefined {
  const counted = /^count\/([^.]+)(?:\.(.+))?$/.exec(name);
  return counted === null ? COUNTED_RESOURCES[name] : `${counted[2] ?? ""}/${counted[1]}`;
}

/**
 * Rejects an object that would exceed a quota of its namespace, in the words of Kubernetes; Flyte's
 * pod plugin recognizes them and retries.
 *
 * @throws ApiError Forbidden
 */
export function checkQuota(store: ObjectStore, object: KubeObject, type: ResourceType): void {
  const namespace = object.metadata.namespace ?? "";
  for (const { object: quota } of store.within(STORAGE.quotas, namespace)) {
    const hard = amountsOf(at(quota, "spec", "hard"));
    const named = { group: type.group, plural: type.plural, name: object.metadata.name };
    if (type.storage === STORAGE.pods) requireResources(object, { hard, quota: quota.metadata.name, named });
    const requested = usageOf(object, type.storage);
    const used = usedIn(store, namespace, hard.keys());
    const exceeded = [...hard].flatMap(([name, limit]) => {
      const wanted = requestedUnder(name, requested);
      return wanted > 0n && (used.get(name) ?? 0n) + wanted > limit ? [{ name, limit, wanted }] : [];
    });
    if (exceeded.length === 0) continue;
    exceeded.sort((a, b) => (a.name < b.name ? -1 : 1));
    const list = (value: (entry: (typeof exceeded)[number]) => bigint) =>
      exceeded.map((e) => `${e.name}=${format(e.name, value(e))}`).join(",");
    throw forbidden(
      named,
      `exceeded quota: ${quota.metadata.name}, requested: ${list((e) => e.wanted)}, used: ${list((e) => used.get(e.name) ?? 0n)}, limited: ${list((e) => e.limit)}`,
    );
  }
}

interface Requirement {
  readonly hard: Amounts;
  readonly quota: string;
  readonly named: { readonly group: string; readonly plural: string; readonly name: string };
}

function requireResources(pod: KubeObject, { hard, quota, named }: Requirement): void {
  const missing = new Map<string, string[]>();
  for (const name of ["limits.cpu", "limits.memory", "requests.cpu", "requests.memory", "cpu", "memory"]) {
    if (!hard.has(name)) continue;
    const [part, resource] = name.includes(".") ? (name.split(".") as ["limits" | "requests", string]) : (["requests", name] as const);
    for (const container of listAt(pod, "spec", "containers")) {
      if (containerResources(container, part).has(resource)) continue;
      const names = missing.get(name) ?? [];
      names.push(textAt(container, "name") ?? "");
      missing.set(name, names);
    }
  }
  if (missing.size === 0) return;
  const text = [...missing].map(([name, containers]) => `${name} for: ${containers.join(",")}`).join("; ");
  throw new ApiError("Forbidden", `pods "${named.name}" is forbidden: failed quota: ${quota}: must specify ${text}`, {
    name: named.name,
    kind: "pods",
  });
}

function requestedUnder(quotaName: string, usage: { readonly storage: string; readonly resources: Amounts }): bigint {
  return countedResource(quotaName) === usage.storage ? 1000n : (usage.resources.get(quotaName) ?? 0n);
}

/**
 * Resources that an object uses: `requests.cpu`, `cpu`, `limits.memory` … of pods that have not
 * ended.
 */
function usageOf(object: KubeObject, storage: string): { storage: string; resources: Amounts } {
  const resources: Amounts = new Map();
  if (storage === STORAGE.pods) {
    for (const [name, amount] of podResources(object, "requests")) resources.set(name, amount).set(`requests.${name}`, amount);
    for (const [name, amount] of podResources(object, "limits")) resources.set(`limits.${name}`, amount);
  }
  return { storage, resources };
}

function usedIn(store: ObjectStore, namespace: string, names: Iterable<string>): Amounts {
  const used: Amounts = new Map();
  const pods = [...store.within(STORAGE.pods, namespace)].filter(({ object }) => !isEnded(object));
  for (const name of names) {
    const counted = countedResource(name);
    if (counted === undefined) continue;
    const number = counted === STORAGE.pods ? pods.length : [...store.within(counted, namespace)].length;
    used.set(name, BigInt(number) * 1000n);
  }
  for (const { object } of pods) add(used, usageOf(object, STORAGE.pods).resources);
  return used;
}

function amountsOf(hard: unknown): Amounts {
  return new Map(isObject(hard) ? Object.entries(hard).map(([name, value]) => [name, parseQuantity(value)]) : []);
}

const format = (name: string, amount: bigint) => formatQuantity(amount, /memory|storage/.test(name));

/** Status of a quota: its limits and the current use. */
export function quotaStatus(store: ObjectStore, quota: KubeObject): JsonObject {
  const hard = at(quota, "spec", "hard");
  if (!isObject(hard)) return {};
  const used = usedIn(store, quota.metadata.namespace ?? "", Object.keys(hard));
  return { hard, used: Object.fromEntries(Object.keys(hard).map((name) => [name, format(name, used.get(name) ?? 0n)])) };
}
