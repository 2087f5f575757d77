import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { NotYet, RetryableFailure } from "@flyte-ts/task-plugin";
import type { Pod } from "../kube/pod-types.js";
import { readAttempt } from "./attempt-record.js";

/** Whether the pod belongs to this resource. */
export function isOwnedBy({ metadata }: Pick<Pod, "metadata">, owner: TaskRequest["owner"]): boolean {
  return owner !== undefined && metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
}

/** Whether the pod was made for this attempt: of the same owner, and by its record of the same workflow. */
export function isPodOf({ metadata }: Pod, { owner, workflowKey }: TaskRequest): boolean {
  if (owner !== undefined && !isOwnedBy({ metadata }, owner)) return false;
  const record = readAttempt({ metadata });
  // A pod without a record was made by another propeller before this one took over.
  return record === undefined ? owner !== undefined : record.workflowKey === workflowKey;
}

/**
 * The pod, when it is the attempt's.
 * @throws NotYet while an older one of its name goes away; RetryableFailure when one stays, for the next attempt has another name.
 */
export function ownPod(pod: Pod, request: TaskRequest): Pod {
  if (isPodOf(pod, request)) return pod;
  const name = `${request.namespace}/${request.generatedName}`;
  if (pod.metadata.deletionTimestamp !== undefined) throw new NotYet(`an older pod ${name} is going away`);
  throw new RetryableFailure({ code: "PodNameTaken", kind: "SYSTEM", message: `pod ${name} exists and is not of this attempt` });
}
