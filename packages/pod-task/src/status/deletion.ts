import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { Pod } from "../pod-types.js";
import { disruptionReason } from "./disruption.js";
import { lastContainerTransition, parseTime } from "./pod-times.js";

/** Failure for a pod that no longer exists, whatever removed it. */
export function podMissingFailure(pod: { readonly namespace: string; readonly name: string }): RetryableFailure {
  return objectMissingFailure("pods", pod);
}

/**
 * Failure for an attempt's object that no longer exists.
 * @param resource plural name of its kind, such as `pods`
 */
export function objectMissingFailure(
  resource: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): RetryableFailure {
  const message = `resource not found, name [${namespace}/${name}]. reason: ${resource} "${name}" not found`;
  return new RetryableFailure({ code: "ResourceDeletedExternally", kind: "SYSTEM", message });
}

/**
 * Failure for an active pod that another client deletes; undefined when none does. One deleted
 * immediately is gone with the next change: kube-apiserver stores a grace period of 0 before it
 * removes the pod.
 */
export function deletionFailure({ metadata, status }: Pod): RetryableFailure | undefined {
  const { namespace = "", name, deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadata;
  if (deletionTimestamp === undefined) return undefined;
  const reason = disruptionReason(status);
  if (deletionGracePeriodSeconds === 0 && finalizers.length === 0) return podMissingFailure({ namespace, name });
  const message = `object [${namespace}/${name}] terminated in the background${reason === undefined ? ", manually" : `: ${reason}`}`;
  return new RetryableFailure({ code: "UnexpectedObjectDeletion", message, kind: "SYSTEM" });
}

/**
 * Failure when another client began to delete the pod before its containers ended: a program may
 * exit with any status on SIGTERM. Kubernetes keeps whole seconds; an end in the same second counts
 * as the program's own.
 */
export function deletedBeforeExit(pod: Pod): RetryableFailure | undefined {
  const exitedAt = lastContainerTransition(pod);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  // The stored time is the end of the grace period.
  const graceEnd = parseTime(deletionTimestamp);
  if (exitedAt === undefined || graceEnd === undefined || exitedAt.getTime() <= graceEnd.getTime() - deletionGracePeriodSeconds * 1_000)
    return undefined;
  return deletionFailure(pod);
}
