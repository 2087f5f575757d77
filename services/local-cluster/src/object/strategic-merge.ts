import { type Json, type JsonObject, isObject } from "./model.js";

/**
 * Applies a strategic merge patch to a built-in kind: merges lists of objects by a key, and
 * supports `$patch`, `$deleteFromPrimitiveList`, `$setElementOrder` and `$retainKeys`. Source of
 * the merge keys: the `patchMergeKey` tags of Kubernetes' core/v1 types.
 */
export function strategicMerge(target: Json | undefined, patch: Json, field = ""): Json {
  if (!isObject(patch)) return patch;
  if (patch["$patch"] === "replace") return without(patch, "$patch");
  const base: JsonObject = isObject(target) ? target : {};
  const result: Record<string, Json | undefined> = { ...base };
  const retain = patch["$retainKeys"];
  if (Array.isArray(retain)) {
    const retained = new Set(retain as readonly Json[]);
    for (const key of Object.keys(result)) if (!retained.has(key)) delete result[key];
  }
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

/** Merge keys by name of the list's field; other lists are replaced. */
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

/** Lists of plain values that are merged as sets. */
const UNION_LISTS = new Set(["finalizers"]);

function mergeKey(field: string, items: readonly Json[]): string | undefined {
  return MERGE_KEYS[field]?.find((key) => items.some((item) => isObject(item) && item[key] !== undefined));
}

/**
 * Returns a text that is equal for equal values only. Lists are matched by it in linear time, since
 * large objects and patches have hundreds of thousands of items.
 */
function canonicalText(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonicalText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "";
  const members = Object.keys(value).toSorted();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`).join()}}`;
}

function mergeList(target: Json | undefined, patch: readonly Json[], field: string): Json {
  const current = Array.isArray(target) ? (target as readonly Json[]) : [];
  if (UNION_LISTS.has(field)) {
    const known = new Set(current.map(canonicalText));
    return [...current, ...patch.filter((value) => !known.has(canonicalText(value)))];
  }
  if (patch.length === 0 && (MERGE_KEYS[field]?.length ?? 0) > 0) return current;
  const key = mergeKey(field, patch);
  if (key === undefined || patch.some((item) => isObject(item) && item["$patch"] === "replace")) {
    return patch.filter((item) => !(isObject(item) && item["$patch"] === "replace"));
  }
  return mergeByKey(current, patch, { key, field });
}

function mergeByKey(current: readonly Json[], patch: readonly Json[], { key, field }: { key: string; field: string }): Json {
  const result: (Json | undefined)[] = [...current];
  const places = new Map<string, number[]>();
  const place = (item: JsonObject, index: number): void => {
    const id = canonicalText(item[key]);
    const known = places.get(id);
    if (known === undefined) places.set(id, [index]);
    else known.push(index);
  };
  for (const [index, item] of current.entries()) if (isObject(item)) place(item, index);
  for (const item of patch) {
    if (!isObject(item)) continue;
    const found = places.get(canonicalText(item[key]));
    const index = found?.[0];
    if (item["$patch"] === "delete") {
      if (index !== undefined) result[index] = undefined;
      found?.shift();
      if (found?.length === 0) places.delete(canonicalText(item[key]));
    } else if (index !== undefined) result[index] = strategicMerge(result[index], item, field);
    else {
      place(item, result.length);
      result.push(strategicMerge({}, item, field));
    }
  }
  return result.filter((item) => item !== undefined);
}

function deleteFromPrimitiveLists(result: Record<string, Json | undefined>, patch: JsonObject): void {
  for (const [directive, deleted] of Object.entries(patch)) {
    const field = directive.match(/^\$deleteFromPrimitiveList\/(.+)$/)?.[1];
    const list = field === undefined ? undefined : result[field];
    if (field === undefined || !Array.isArray(list) || !Array.isArray(deleted)) continue;
    const gone = new Set((deleted as readonly Json[]).map(canonicalText));
    const kept = (list as readonly Json[]).filter((value) => !gone.has(canonicalText(value)));
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
    const named = (item: Json) => (key !== undefined && isObject(item) ? `of ${canonicalText(item[key])}` : canonicalText(item));
    const ranks = new Map<string, number>();
    for (const [rank, item] of wanted.entries()) if (!ranks.has(named(item))) ranks.set(named(item), rank);
    const ranked = (list as readonly Json[]).map((item) => ({ item, rank: ranks.get(named(item)) ?? wanted.length }));
    result[field] = ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
  }
}

function without(object: JsonObject, key: string): JsonObject {
  const { [key]: _, ...rest } = object;
  return rest as JsonObject;
}
