import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { ATTEMPT_ANNOTATION, encodeAttemptAnnotation } from "../create/attempt-annotation.js";
import type { Pod } from "../pod-types.js";
import { WARM_ASSIGNMENT_ANNOTATION, WARM_POOL_ANNOTATION, WARM_STATE_LABEL, WARM_TAKEN_ANNOTATION } from "./names.js";
import type { WarmStart } from "./warm-start.js";

/** Merge patch of a pod's metadata. */
export interface PodPatch {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string | null>>;
    readonly annotations: Readonly<Record<string, string | null>>;
  } & Readonly<Record<string, unknown>>;
}

export interface TakeOptions {
  readonly start: WarmStart;
  readonly now: Date;
}

/**
 * Builds the merge patch by which an attempt takes an idle pod. The resource version lets one patch
 * succeed of several that know the same version of the pod: the pod serves one attempt, and the
 * patch that assigns the work is the record of it.
 */
export function takePatch(idle: Pod, request: TaskRequest, { start, now }: TakeOptions): PodPatch {
  const { uid = "", resourceVersion = "" } = idle.metadata;
  const { assignment } = start;
  // A version is taken once, so that its number names the take.
  const take = assignment.tag === undefined ? undefined : resourceVersion;
  return {
    metadata: {
      uid,
      resourceVersion,
      labels: { ...start.taken.labels, [WARM_STATE_LABEL]: "taken" },
      annotations: {
        [WARM_ASSIGNMENT_ANNOTATION]: JSON.stringify({ ...assignment, take }),
        [ATTEMPT_ANNOTATION]: encodeAttemptAnnotation(request),
        [WARM_TAKEN_ANNOTATION]: [uid, now.toISOString(), ...(take === undefined ? [] : [take])].join(" "),
        [WARM_POOL_ANNOTATION]: null,
      },
      ownerReferences: start.taken.ownerReferences ?? [],
    },
  };
}
