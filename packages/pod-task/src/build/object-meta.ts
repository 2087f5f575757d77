import { sanitizeLabelValue } from "@flyte-ts/domain/name";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ObjectMeta } from "@flyte-ts/kubernetes";

/**
 * Label of an operator's resource and of the pods below it: the name of the resource. Other pods of
 * tasks do not have it.
 */
export const OPERATOR_JOB_LABEL = "flyte.org/job";

export interface ObjectMetaConfig {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface DeclaredMeta {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Name, labels, annotations and owner of an attempt's objects; for equal keys the execution's value
 * wins, then the task's.
 */
export function objectMeta(request: TaskRequest, declared: DeclaredMeta, config: ObjectMetaConfig): ObjectMeta {
  const { owner, namespace, generatedName, template } = request;
  const templateMeta = template?.metadata?.metadata;
  return {
    name: generatedName,
    namespace,
    labels: { ...config.labels, ...declared.labels, ...templateMeta?.labels, ...attemptLabels(request), ...request.labels },
    annotations: { ...config.annotations, ...declared.annotations, ...templateMeta?.annotations, ...request.annotations },
    ...(owner === undefined
      ? {}
      : {
          ownerReferences: [
            {
              apiVersion: owner.apiVersion,
              kind: owner.kind,
              name: owner.name,
              uid: owner.uid,
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        }),
  };
}

/** Labels that identify the attempt in the pod, where propeller has not set them. */
function attemptLabels({ nodePath, id, interruptible, securityContext }: TaskRequest): Record<string, string> {
  const identity = securityContext?.runAs?.executionIdentity ?? "";
  return {
    "node-id": sanitizeLabelValue(nodePath.split("/").at(-1) ?? ""),
    "task-name": sanitizeLabelValue(id?.taskId?.name ?? ""),
    interruptible: String(interruptible),
    ...(identity === "" ? {} : { "execution-identity": sanitizeLabelValue(identity) }),
  };
}
