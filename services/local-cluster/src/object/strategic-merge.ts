import { equalJson } from "./merge-patch.js";
import { type Json, type JsonObject, isObject } from "./model.js";

/**
 * Kubernetes' strategic merge patch for the built-in kinds: lists of objects are
 * merged by a key, and `$patch`, `$deleteFromPrimitiveList`, `$setElementOrder`
 * and `$retainKeys` are understood. Source of the merge keys: the
 * `patchMergeKey` tags of Kubernetes' core/v1 types.
 */
export function strategicMerge(target: Json | undefined, patch: Json, field = ""): Json {
  if (!isObject(patch)) return patch;
  if (patch["$patch"] === "replace") return without(patch, "$patch");
  const base: JsonObject = isObject(target) ? target : {};
  const result: Record<string, Json | undefined> = { ...base };
  const retain = patch["$retainKeys"];
  if (Array.isArray(retain)) for (const key of Object.keys(result)) if (!(retain as readonly Json[]).includes(key)) delete result[key];
  for (const key of Object.keys(patch)) {
    if (key === "__proto__" || key.startsWith("$")) continue;
    const value = patch[key] as Json;
    if (value === null) delete result[key];
    else if (Array.isArray(value)) result[key] = mergeList(result[key], value as readonly Json[], key === "" ? field : key);
    else result[key] = strategicMerge(result[key], value, key);
  }
  deleteFromPrimitiveLists(result, patch);
  orderLists(result, patch);
  return result;
}

/** Merge key by the name of the list's field; lists not named are replaced as a whole. */
const MERGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ["name"],
  initContainers: ["name"],
  ephemeralContainers: ["name"],
  containerStatuses: [],
  volumes: ["name"],
  env: ["name"],
  volumeMounts: ["mountPath"],
  volumeDevices: ["devicePath"],
  ports: ["containerPort", "port"],
  conditions: ["type"],
  imagePullSecrets: ["name"],
  hostAliases: ["ip"],
  secrets: ["name"],
  ownerReferences: ["uid"],
  addresses: ["type"],
  podIPs: ["ip"],
  hostIPs: ["ip"],
  topologySpreadConstraints: ["topologyKey"],
};

/** Lists of plain values that are united rather than replaced. */
const UNITED = new Set(["finalizers"]);

function mergeKey(field: string, items: readonly Json[]): string | undefined {
  return MERGE_KEYS[field]?.find((key) => items.some((item) => isObject(item) && item[key] !== undefined));
}

function mergeList(target: Json | undefined, patch: readonly Json[], field: string): Json {
  const current = Array.isArray(target) ? (target as readonly Json[]) : [];
  if (UNITED.has(field)) return [...current, ...patch.filter((value) => !current.some((old) => equalJson(old, value)))];
  if (patch.length === 0 && (MERGE_KEYS[field]?.length ?? 0) > 0) return current;
  const key = mergeKey(field, patch);
  if (key === undefined || patch.some((item) => isObject(item) && item["$patch"] === "replace")) {
    return patch.filter((item) => !(isObject(item) && item["$patch"] === "replace"));
  }
  const result = [...current];
  for (const item of patch) {
    if (!isObject(item)) continue;
    const index = result.findIndex((old) => isObject(old) && equalJson(old[key], item[key]));
    if (item["$patch"] === "delete") {
      if (index >= 0) result.splice(index, 1);
    } else if (index >= 0) result[index] = strategicMerge(result[index], item, field);
    else result.push(strategicMerge({}, item, field));
  }
  return result;
}

function deleteFromPrimitiveLists(result: Record<string, Json | undefined>, patch: JsonObject): void {
  for (const [directive, doomed] of Object.entries(patch)) {
    const field = directive.match(/^\$deleteFromPrimitiveList\/(.+)$/)?.[1];
    const list = field === undefined ? undefined : result[field];
    if (field === undefined || !Array.isArray(list) || !Array.isArray(doomed)) continue;
    const kept = (list as readonly Json[]).filter((value) => !(doomed as readonly Json[]).some((d) => equalJson(d, value)));
    if (kept.length === 0) delete result[field];
    else result[field] = kept;
  }
}

function orderLists(result: Record<string, Json | undefined>, patch: JsonObject): void {
  for (const [directive, order] of Object.entries(patch)) {
    const field = directive.match(/^\$setElementOrder\/(.+)$/)?.[1];
    const list = field === undefined ? undefined : result[field];
    if (field === undefined || !Array.isArray(list) || !Array.isArray(order)) continue;
    const wanted = order as readonly Json[];
    const key = mergeKey(field, wanted);
    const rank = (item: Json) => {
      const found = wanted.findIndex((w) =>
        key !== undefined && isObject(w) && isObject(item) ? equalJson(w[key], item[key]) : equalJson(w, item),
      );
      return found < 0 ? wanted.length : found;
    };
    result[field] = [...(list as readonly Json[])].sort((a, b) => rank(a) - rank(b));
  }
}

function without(object: JsonObject, key: string): JsonObject {
  const { [key]: _, ...rest } = object;
  return rest as JsonObject;
}
