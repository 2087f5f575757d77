import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { asOnePod } from "../one-pod/as-one-pod.js";
import type { Pod, PodSpec } from "../pod-types.js";
import { buildPodSpec } from "./build-pod-spec.js";
import { PRIMARY_CONTAINER_KEY } from "./declared-pod.js";
import { objectMeta } from "./object-meta.js";
import type { BuildPodOptions } from "./pod-config.js";

/**
 * Builds the pod of an attempt. Pure: the same request gives the same pod.
 * @throws InvalidPodSpecError, TemplateError, QuantityError: errors of the task.
 */
export function buildPod(request: TaskRequest, options: BuildPodOptions): Pod {
  const { spec, labels, annotations, primaryContainer } = asOnePod(buildPodSpec(request, options), request, options.onePod);
  const primaryAnnotation: Record<string, string> = endsWithPrimary(request, spec) ? { [PRIMARY_CONTAINER_KEY]: primaryContainer } : {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: objectMeta(request, { labels, annotations: { ...annotations, ...primaryAnnotation } }, options.config.metadata),
    spec,
  };
}

/**
 * True when the attempt ends with its primary container: pod tasks, and pods of one container. A
 * raw container's copilot outlives it.
 */
function endsWithPrimary({ template }: TaskRequest, { containers }: PodSpec): boolean {
  return template?.type === "sidecar" || (containers.length === 1 && template?.type !== "raw-container");
}
