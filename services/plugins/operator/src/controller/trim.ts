import { ATTEMPT_ANNOTATION, type Pod, trimPod } from "@flyte-ts/pod-task";
import type { Job } from "../operator.js";

/**
 * Returns the part of a resource that the cache keeps. Specs are dropped, since they contain whole
 * pods.
 */
export function trimJob({ metadata, status }: Job): Job {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, annotations, ownerReferences } = metadata;
  const attempt = annotations?.[ATTEMPT_ANNOTATION];
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(attempt === undefined ? {} : { annotations: { [ATTEMPT_ANNOTATION]: attempt } }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    ...(status === undefined ? {} : { status }),
  };
}

/** A pod without annotations, which may be large, and with its labels, which name its role. */
export function trimJobPod(pod: Pod): Pod {
  const trimmed = trimPod(pod);
  const { annotations: _, ...metadata } = trimmed.metadata;
  return { ...trimmed, metadata: { ...metadata, ...(pod.metadata.labels === undefined ? {} : { labels: pod.metadata.labels }) } };
}
