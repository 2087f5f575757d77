import { WARM_KEY_LABEL } from "../warm/names.js";
import type { Pod } from "../pod-types.js";

/** The part of a pod that the cache keeps: there may be very many. */
export function trimPod({ metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, creationTimestamp, annotations, ownerReferences } = metadata;
  const kind = metadata.labels?.[WARM_KEY_LABEL];
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(kind === undefined ? {} : { labels: { [WARM_KEY_LABEL]: kind } }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    spec: {
      containers: spec.containers.map((container) => ({ name: container.name })),
      ...(spec.nodeName === undefined ? {} : { nodeName: spec.nodeName }),
      ...(spec.hostname === undefined ? {} : { hostname: spec.hostname }),
    },
    ...(status === undefined ? {} : { status }),
  };
}
