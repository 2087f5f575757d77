import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TaskExecutionMetadataSchema } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { TaskNodeOverridesSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { create } from "@bufbuild/protobuf";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/** Facts of an attempt for its connector. */
export function taskMetadata(request: TaskRequest): MessageInitShape<typeof TaskExecutionMetadataSchema> {
  const { id, namespace, labels, annotations, environment, securityContext, interruptible, overrides, template } = request;
  const identity = securityContext?.runAs;
  return {
    ...(id && { taskExecutionId: id }),
    namespace,
    labels,
    annotations,
    k8sServiceAccount: identity?.k8sServiceAccount ?? "",
    environmentVariables: Object.fromEntries(environment.map(({ key, value }) => [key, value])),
    maxAttempts: (template?.metadata?.retries?.retries ?? 0) + 1,
    interruptible,
    ...(overrides && { overrides: nodeOverrides(overrides) }),
    ...(identity && { identity }),
  };
}

function nodeOverrides({ resources, extendedResources, containerImage, podTemplate }: NonNullable<TaskRequest["overrides"]>) {
  return create(TaskNodeOverridesSchema, {
    ...(resources && { resources }),
    ...(extendedResources && { extendedResources }),
    containerImage,
    ...(podTemplate && { podTemplate }),
  });
}
