import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { RetryLater, RetryableFailure } from "@flyte-ts/task-plugin";
import { decodeAttemptAnnotation } from "./attempt-annotation.js";

/** True when both are the same resource. */
export function isSameOwner(one: TaskRequest["owner"], other: TaskRequest["owner"]): boolean {
  return one !== undefined && one.uid === other?.uid;
}

/** True when the object belongs to this resource. */
export function isOwnedBy({ metadata }: KubeObject, owner: TaskRequest["owner"]): boolean {
  return owner !== undefined && metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
}

/**
 * True when the object was created for this attempt: with the same owner, and the same workflow in
 * its annotation.
 */
export function belongsToAttempt(object: KubeObject, { owner, workflowKey }: Pick<TaskRequest, "owner" | "workflowKey">): boolean {
  if (owner !== undefined && !isOwnedBy(object, owner)) return false;
  const annotated = decodeAttemptAnnotation(object);
  // Another propeller created an object without the annotation, before this one took over.
  return annotated === undefined ? owner !== undefined : annotated.workflowKey === workflowKey;
}

/**
 * Returns the object, if it is the attempt's.
 * @param kind such as `Pod`
 * @throws RetryLater while an older one of its name is being deleted; RetryableFailure when one
 *   stays, since the next attempt has another name
 */
export function requireAttemptObject<T extends KubeObject>(object: T, request: TaskRequest, kind: string): T {
  if (belongsToAttempt(object, request)) return object;
  const described = describeObject(kind, request);
  if (object.metadata.deletionTimestamp !== undefined) throw new RetryLater(`waiting for the deletion of an older ${described}`);
  throw new RetryableFailure({ code: `${kind}NameTaken`, kind: "SYSTEM", message: `${described} exists and belongs to another attempt` });
}

/** Names the attempt's object in messages: `pod NAMESPACE/NAME`. */
export function describeObject(kind: string, { namespace, generatedName }: TaskRequest): string {
  return `${kind.toLowerCase()} ${namespace}/${generatedName}`;
}
