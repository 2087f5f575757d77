import type { K8sPod } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { type Container, mergePodFields, type PodSpec } from "@flyte-ts/pod-task";
import type { RolePod } from "./role-pod-builder.js";

/**
 * Lays a role's own pod over the one built for it: objects key by key, lists appended, containers
 * and init containers by name. Containers that the built pod lacks are dropped. The overlay wins.
 */
export function mergeRolePod(pod: RolePod, overlay: K8sPod | undefined): RolePod {
  if (overlay === undefined) return pod;
  const { containers, initContainers, ...own } = (overlay.podSpec ?? {}) as Partial<PodSpec>;
  const { containers: built, initContainers: builtInit, ...base } = pod.spec;
  return {
    spec: {
      ...mergePodFields<Omit<PodSpec, "containers" | "initContainers">>(base, own),
      containers: mergeContainers(built, containers),
      ...(builtInit === undefined ? {} : { initContainers: mergeContainers(builtInit, initContainers) }),
    },
    labels: { ...pod.labels, ...overlay.metadata?.labels },
    annotations: { ...pod.annotations, ...overlay.metadata?.annotations },
    primaryContainer: pod.primaryContainer,
  };
}

function mergeContainers(built: readonly Container[], overlays: readonly Container[] = []): Container[] {
  return built.map((container) => {
    const overlay = overlays.find(({ name }) => name === container.name);
    return overlay === undefined ? container : mergePodFields<Container>(container, overlay);
  });
}
