import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { Pod } from "../kube/pod-types.js";
import { disruption } from "./disruption.js";
import { lastTransition, parseTime } from "./pod-times.js";

/** Where the pod is gone, whoever removed it. */
export function goneFailure({ namespace, name }: { readonly namespace: string; readonly name: string }): RetryableFailure {
  const message = `resource not found, name [${namespace}/${name}]. reason: pods "${name}" not found`;
  return new RetryableFailure({ code: "ResourceDeletedExternally", kind: "SYSTEM", message });
}

/**
 * Where somebody else deletes the pod while it has work to do; undefined when nobody does. One that is deleted at once
 * is gone with the next change: kube-apiserver writes a grace period of 0 down before it removes the pod.
 */
export function beingDeleted({ metadata, status }: Pod): RetryableFailure | undefined {
  const { namespace = "", name, deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadata;
  if (deletionTimestamp === undefined) return undefined;
  const why = disruption(status);
  if (deletionGracePeriodSeconds === 0 && finalizers.length === 0) return goneFailure({ namespace, name });
  const message = `object [${namespace}/${name}] terminated in the background${why === undefined ? ", manually" : `: ${why}`}`;
  return new RetryableFailure({ code: "UnexpectedObjectDeletion", message, kind: "SYSTEM" });
}

/**
 * Where somebody else began to delete the pod before its containers ended: a program that is told to end ends with whatever status it
 * likes. Kubernetes keeps whole seconds; what fell into the same one ended by itself.
 */
export function deletedBeforeItsEnd(pod: Pod): RetryableFailure | undefined {
  const end = lastTransition(pod);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  // The time that is written down is when the grace period ends.
  const limit = parseTime(deletionTimestamp);
  if (end === undefined || limit === undefined || end.getTime() <= limit.getTime() - deletionGracePeriodSeconds * 1_000) return undefined;
  return beingDeleted(pod);
}
