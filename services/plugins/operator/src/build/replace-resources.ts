import type { JsonObject } from "@bufbuild/protobuf";
import type { K8sPod, Resources } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { containerResources, PRIMARY_CONTAINER_KEY, type PodSpec } from "@flyte-ts/pod-task";
import { withPrimary } from "./containers.js";

/**
 * Replaces the resources that the task and its node request for the primary container. The
 * platform's limits apply to the new resources, and tolerations and node selectors follow them.
 * Without requests and limits nothing is replaced.
 */
export function replaceResources(request: TaskRequest, resources: Resources | undefined, gpuResourceName: string): TaskRequest {
  const { template, overrides } = request;
  if (template === undefined || resources === undefined || resources.requests.length + resources.limits.length === 0) return request;
  const own = { ...containerResources(resources, gpuResourceName) };
  const inPod = (pod: K8sPod, primary: string): K8sPod => ({ ...pod, podSpec: podResources(pod.podSpec, primary, own) });
  const { target } = template;
  const podTemplate = overrides?.podTemplate;
  return {
    ...request,
    template: {
      ...template,
      ...(target.case === "container" ? { target: { case: "container", value: { ...target.value, resources } } } : {}),
      ...(target.case === "k8sPod"
        ? { target: { case: "k8sPod", value: inPod(target.value, template.config[PRIMARY_CONTAINER_KEY] ?? "") } }
        : {}),
    },
    overrides: overrides && {
      ...overrides,
      resources: undefined,
      podTemplate: podTemplate && inPod(podTemplate, podTemplate.primaryContainerName),
    },
  } as TaskRequest;
}

function podResources(json: JsonObject | undefined, primary: string, resources: object): JsonObject | undefined {
  const spec = json as unknown as PodSpec | undefined;
  if (!Array.isArray(spec?.containers)) return json;
  return withPrimary(spec, primary, (container) => ({ ...container, resources })) as unknown as JsonObject;
}
