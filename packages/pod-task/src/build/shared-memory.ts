import { canonicalQuantity } from "@flyte-ts/domain/quantity";
import type { SharedMemory } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { PodSpec } from "../pod-types.js";
import { InvalidPodSpecError } from "./invalid-pod-spec.js";

/** Mounts memory as a folder into the primary container. @throws InvalidPodSpecError */
export function addSharedMemory(spec: PodSpec, memory: SharedMemory | undefined, primaryContainer: string): PodSpec {
  if (memory === undefined) return spec;
  const { mountName, mountPath, sizeLimit } = memory;
  if (mountName === "") throw new InvalidPodSpecError("extended_resources.shared_memory.mount_name: is required");
  if (mountPath === "") throw new InvalidPodSpecError("extended_resources.shared_memory.mount_path: is required");
  const mounts = spec.containers.find(({ name }) => name === primaryContainer)?.volumeMounts ?? [];
  if (spec.volumes?.some(({ name }) => name === mountName) || mounts.some(({ name }) => name === mountName)) {
    throw new InvalidPodSpecError(`extended_resources.shared_memory.mount_name: the pod has a volume ${mountName} already`);
  }
  if (mounts.some((mount) => mount.mountPath === mountPath)) {
    throw new InvalidPodSpecError(`extended_resources.shared_memory.mount_path: ${mountPath} is mounted already`);
  }
  const size = sizeLimit === "" ? {} : { sizeLimit: quantity(sizeLimit) };
  return {
    ...spec,
    volumes: [...(spec.volumes ?? []), { name: mountName, emptyDir: { medium: "Memory", ...size } }],
    containers: spec.containers.map((container) =>
      container.name === primaryContainer
        ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), { name: mountName, mountPath }] }
        : container,
    ),
  };
}

function quantity(text: string): string {
  try {
    return canonicalQuantity(text);
  } catch (cause) {
    throw new InvalidPodSpecError(
      `extended_resources.shared_memory.size_limit: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
      },
    );
  }
}
