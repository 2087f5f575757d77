import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { RetryLater, RetryableFailure } from "@flyte-ts/task-plugin";
import type { Pod } from "../pod-types.js";
import { decodeAttemptAnnotation } from "./attempt-annotation.js";

/** True when the pod belongs to this resource. */
export function isOwnedBy({ metadata }: Pick<Pod, "metadata">, owner: TaskRequest["owner"]): boolean {
  return owner !== undefined && metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
}

/** True when the pod was created for this attempt: with the same owner, and the same workflow in its record. */
export function belongsToAttempt({ metadata }: Pod, { owner, workflowKey }: TaskRequest): boolean {
  if (owner !== undefined && !isOwnedBy({ metadata }, owner)) return false;
  const annotated = decodeAttemptAnnotation({ metadata });
  // Another propeller created a pod without a record, before this one took over.
  return annotated === undefined ? owner !== undefined : annotated.workflowKey === workflowKey;
}

/**
 * Returns the pod, if it is the attempt's.
 * @throws RetryLater while an older one of its name is being deleted; RetryableFailure when one stays, since the next
 * attempt has another name.
 */
export function requireAttemptPod(pod: Pod, request: TaskRequest): Pod {
  if (belongsToAttempt(pod, request)) return pod;
  const name = `${request.namespace}/${request.generatedName}`;
  if (pod.metadata.deletionTimestamp !== undefined) throw new RetryLater(`waiting for the deletion of an older pod ${name}`);
  throw new RetryableFailure({ code: "PodNameTaken", kind: "SYSTEM", message: `pod ${name} exists and belongs to another attempt` });
}
