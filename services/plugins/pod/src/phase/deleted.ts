import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { Pod } from "../kube/pod-types.js";

/** Where the pod is gone, whoever removed it. */
export function goneFailure({ namespace, name }: { readonly namespace: string; readonly name: string }): RetryableFailure {
  const message = `resource not found, name [${namespace}/${name}]. reason: pods "${name}" not found`;
  return new RetryableFailure({ code: "ResourceDeletedExternally", kind: "SYSTEM", message });
}

/**
 * Where somebody else deletes the pod while it has work to do; undefined when nobody does. One that is deleted at once
 * is gone with the next change: kube-apiserver writes a grace period of 0 down before it removes the pod.
 */
export function beingDeleted({ metadata }: Pod): RetryableFailure | undefined {
  const { namespace = "", name, deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadata;
  if (deletionTimestamp === undefined) return undefined;
  if (deletionGracePeriodSeconds === 0 && finalizers.length === 0) return goneFailure({ namespace, name });
  const message = `object [${namespace}/${name}] terminated in the background, manually`;
  return new RetryableFailure({ code: "UnexpectedObjectDeletion", message, kind: "SYSTEM" });
}
