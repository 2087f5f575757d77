import { type Json, type JsonObject, type KubeObject, at, isObject, listAt, textAt } from "../../object/model.js";
import { formatQuantity, parseQuantity } from "../../object/quantity.js";
import { expand } from "./expand.js";

/**
 * The container's configuration is invalid or refers to a missing object: kubelet's
 * CreateContainerConfigError.
 */
export class ContainerConfigError extends Error {
  override readonly name = "ContainerConfigError";
}

/** Returns the data of a secret or config map; undefined when it does not exist. */
export type Lookup = (kind: "Secret" | "ConfigMap", name: string) => ReadonlyMap<string, Buffer> | undefined;

export interface EnvironmentInput {
  readonly pod: KubeObject;
  readonly container: JsonObject;
  readonly lookup: Lookup;
  readonly hostIP: string;
  /** Limits of containers that declare none. */
  readonly allocatable: ReadonlyMap<string, bigint>;
}

/**
 * Evaluates a container's environment: envFrom, then env, where later variables may refer to
 * earlier ones.
 *
 * @throws ContainerConfigError
 */
export function containerEnvironment(input: EnvironmentInput): Map<string, string> {
  const variables = new Map<string, string>();
  for (const source of listAt(input.container, "envFrom")) addAll(variables, source, input);
  for (const variable of listAt(input.container, "env")) {
    const name = textAt(variable, "name") ?? "";
    const from = at(variable, "valueFrom");
    if (!isObject(from)) variables.set(name, expand(textAt(variable, "value") ?? "", variables));
    else {
      const value = valueFrom(from, input);
      if (value !== undefined) variables.set(name, value);
    }
  }
  return variables;
}

function addAll(variables: Map<string, string>, source: Json, { lookup, pod }: EnvironmentInput): void {
  const prefix = textAt(source, "prefix") ?? "";
  for (const [field, kind] of [
    ["configMapRef", "ConfigMap"],
    ["secretRef", "Secret"],
  ] as const) {
    const name = textAt(source, field, "name");
    if (name === undefined) continue;
    const data = lookup(kind, name);
    if (data === undefined && at(source, field, "optional") !== true) throw missing(kind, name);
    for (const [key, value] of data ?? [])
      if (/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(prefix + key)) variables.set(prefix + key, value.toString("utf8"));
  }
  void pod;
}

export const missing = (kind: "Secret" | "ConfigMap", name: string) =>
  new ContainerConfigError(`${kind.toLowerCase()} ${JSON.stringify(name)} not found`);

function valueFrom(from: JsonObject, input: EnvironmentInput): string | undefined {
  const { pod, lookup } = input;
  for (const [field, kind] of [
    ["configMapKeyRef", "ConfigMap"],
    ["secretKeyRef", "Secret"],
  ] as const) {
    const reference = from[field];
    if (!isObject(reference)) continue;
    const name = textAt(reference, "name") ?? "";
    const key = textAt(reference, "key") ?? "";
    const data = lookup(kind, name);
    const optional = reference["optional"] === true;
    if (data === undefined && !optional) throw missing(kind, name);
    const value = data?.get(key);
    if (value === undefined && !optional)
      throw new ContainerConfigError(`couldn't find key ${key} in ${kind} ${pod.metadata.namespace ?? ""}/${name}`);
    return value?.toString("utf8");
  }
  const path = textAt(from, "fieldRef", "fieldPath");
  if (path !== undefined) return fieldValue(pod, path, input.hostIP);
  const resource = textAt(from, "resourceFieldRef", "resource");
  if (resource !== undefined) return resourceValue(resource, from, input);
  throw new ContainerConfigError("valueFrom of an environment variable has no source");
}

/** Returns a pod's field as in the downward API. */
export function fieldValue(pod: KubeObject, path: string, hostIP: string): string {
  const keyed = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(path);
  if (keyed !== null) return textAt(pod, "metadata", keyed[1] ?? "", keyed[2] ?? "") ?? "";
  switch (path) {
    case "metadata.labels":
    case "metadata.annotations": {
      const map = at(pod, ...path.split("."));
      return isObject(map)
        ? Object.entries(map)
            .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
            .sort()
            .join("\n")
        : "";
    }
    case "status.podIP":
    case "status.podIPs":
    case "status.hostIP":
    case "status.hostIPs":
      return hostIP;
    case "metadata.name":
    case "metadata.namespace":
    case "metadata.uid":
    case "spec.nodeName":
    case "spec.serviceAccountName":
      return textAt(pod, ...path.split(".")) ?? "";
    default:
      throw new ContainerConfigError(`unsupported fieldPath: ${path}`);
  }
}

function resourceValue(resource: string, from: JsonObject, { pod, container, allocatable }: EnvironmentInput): string {
  const name = textAt(from, "resourceFieldRef", "containerName");
  const all = [...listAt(pod, "spec", "containers"), ...listAt(pod, "spec", "initContainers")];
  const owner = name === undefined || name === "" ? container : all.find((c) => textAt(c, "name") === name);
  const [part = "", ...rest] = resource.split(".");
  const kind = rest.join(".");
  const given = at(owner, "resources", part, kind);
  const amount = given === undefined ? (part === "limits" ? (allocatable.get(kind) ?? 0n) : 0n) : parseQuantity(given);
  const divisor = parseQuantity(at(from, "resourceFieldRef", "divisor") ?? "1");
  const per = divisor === 0n ? 1000n : divisor;
  // Rounds up to multiples of the divisor, like Kubernetes.
  return formatQuantity(((amount + per - 1n) / per) * 1000n).replace(/[kMGTPE]$/, (unit) => "000".repeat(1 + "kMGTPE".indexOf(unit)));
}
