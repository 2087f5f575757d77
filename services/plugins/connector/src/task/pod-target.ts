import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { K8sPod } from "@flyte-ts/idl/flyteidl/core/tasks_pb";

/** Lists the arguments of the containers of a declared pod. */
export function podArguments({ podSpec }: K8sPod): readonly string[] {
  return containerLists(podSpec).flatMap(([, containers]) => containers.flatMap(argumentsOf));
}

/**
 * Returns the pod that a connector gets: the declared one with replaced placeholders in the
 * arguments of its containers. Additions of the platform (environment, resources, scheduling)
 * belong here.
 */
export function renderPod(pod: K8sPod, render: (args: readonly string[]) => string[]): K8sPod {
  const lists = containerLists(pod.podSpec).map(([name, containers]) => [
    name,
    containers.map((container) => ("args" in container ? { ...container, args: render(argumentsOf(container)) } : container)),
  ]);
  return { ...pod, podSpec: { ...pod.podSpec, ...(Object.fromEntries(lists) as JsonObject) } };
}

function containerLists(spec: JsonObject | undefined): readonly (readonly [name: string, containers: readonly JsonObject[]])[] {
  return ["containers", "initContainers"].flatMap((name) => {
    const containers = spec?.[name];
    return Array.isArray(containers) ? [[name, containers.filter(isObject)] as const] : [];
  });
}

function argumentsOf({ args }: JsonObject): string[] {
  return Array.isArray(args) ? args.filter((text) => typeof text === "string") : [];
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
