import { type Json, type JsonObject, type KubeObject, at, isObject, listAt, show, textAt } from "../../object/model.js";
import { parseQuantity } from "../../object/quantity.js";
import type { ObjectStore } from "../../store/object-store.js";
import { forbidden } from "../api-error.js";
import { STORAGE } from "../type/built-in-types.js";

const containerLimits = (store: ObjectStore, namespace: string) =>
  [...store.within(STORAGE.limitRanges, namespace)].flatMap(({ object }) =>
    listAt(object, "spec", "limits").filter((l) => textAt(l, "type") === "Container"),
  );

/** Applies the defaults of the namespace's limit ranges to a pod's containers. */
export function applyLimitRanges(store: ObjectStore, pod: KubeObject): KubeObject {
  const limits = containerLimits(store, pod.metadata.namespace ?? "");
  if (limits.length === 0) return pod;
  const spec = isObject(pod["spec"]) ? pod["spec"] : {};
  const change = (field: string): JsonObject => {
    const list = spec[field];
    return Array.isArray(list) ? { [field]: (list as readonly Json[]).map((c) => limits.reduce(withDefaults, c)) } : {};
  };
  return { ...pod, spec: { ...spec, ...change("containers"), ...change("initContainers") } };
}

function withDefaults(container: Json, limit: Json): Json {
  if (!isObject(container)) return container;
  const resources = isObject(container["resources"]) ? container["resources"] : {};
  const part = (name: string): JsonObject => {
    const value = at(resources, name);
    return isObject(value) ? value : {};
  };
  const defaults = (name: string): JsonObject => {
    const value = at(limit, name);
    return isObject(value) ? value : {};
  };
  const limits = { ...defaults("default"), ...part("limits") };
  const requests = { ...defaults("default"), ...defaults("defaultRequest"), ...part("limits"), ...part("requests") };
  return {
    ...container,
    resources: {
      ...resources,
      ...(Object.keys(limits).length > 0 ? { limits } : {}),
      ...(Object.keys(requests).length > 0 ? { requests } : {}),
    },
  };
}

/** @throws ApiError Forbidden when a container violates a limit range */
export function checkLimitRanges(store: ObjectStore, pod: KubeObject): void {
  const causes: string[] = [];
  for (const limit of containerLimits(store, pod.metadata.namespace ?? "")) {
    for (const container of listAt(pod, "spec", "containers")) causes.push(...limitViolations(container, limit));
  }
  if (causes.length === 0) return;
  const text = causes.length === 1 ? (causes[0] as string) : `[${causes.join(", ")}]`;
  throw forbidden({ group: "", plural: "pods", name: pod.metadata.name }, text);
}

function limitViolations(container: Json, limit: Json): string[] {
  const causes: string[] = [];
  for (const [bound, part, word, verb] of [
    ["min", "requests", "minimum", "request"],
    ["max", "limits", "maximum", "limit"],
  ] as const) {
    const bounds = at(limit, bound);
    if (!isObject(bounds)) continue;
    for (const [name, value] of Object.entries(bounds)) {
      const requested = at(container, "resources", part, name);
      if (requested === undefined) causes.push(`${word} ${name} usage per Container is ${show(value)}.  No ${verb} is specified`);
      else if (bound === "min" ? parseQuantity(requested) < parseQuantity(value) : parseQuantity(requested) > parseQuantity(value)) {
        causes.push(`${word} ${name} usage per Container is ${show(value)}, but ${verb} is ${show(requested)}`);
      }
    }
  }
  return causes;
}
