import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { ATTEMPT_ANNOTATION } from "../../create/attempt-annotation.js";
import type { Pod } from "../../pod-types.js";
import { ATTEMPT_LABELS } from "../attempt-part.js";
import {
  WARM_ASSIGNMENT_ANNOTATION,
  WARM_POOL_ANNOTATION,
  WARM_PRELOAD_ANNOTATION,
  WARM_STATE_LABEL,
  WARM_TAKEN_ANNOTATION,
} from "../names.js";
import { type PodPatch, type TakeOptions, takePatch } from "../take-patch.js";

/** Fields that an idle pod gets. */
export interface FreePod {
  /** Names the process that frees it. */
  readonly pool: string;
  /** Modules to load ahead, as the supervisor reads them; absent: as before. */
  readonly preload?: string | undefined;
}

/**
 * Builds the merge patch that makes a reused pod idle after its attempt: nothing of the attempt
 * stays. It succeeds for this version alone, so that it never frees the pod of a later attempt.
 */
export function freePatch({ metadata: { uid, resourceVersion } }: Pod, { pool, preload }: FreePod): PodPatch {
  return {
    metadata: {
      uid,
      resourceVersion,
      labels: { ...Object.fromEntries([...ATTEMPT_LABELS].map((name) => [name, null])), [WARM_STATE_LABEL]: "idle" },
      annotations: {
        [ATTEMPT_ANNOTATION]: null,
        [WARM_TAKEN_ANNOTATION]: null,
        [WARM_ASSIGNMENT_ANNOTATION]: null,
        [WARM_POOL_ANNOTATION]: pool,
        ...(preload === undefined ? {} : { [WARM_PRELOAD_ANNOTATION]: preload }),
      },
      ownerReferences: [],
    },
  };
}

/**
 * Builds the merge patch by which an attempt takes the reused pod of an ended one: nothing of that
 * attempt stays. It succeeds for this version alone, as those that free and take a pod.
 */
export function handOverPatch(pod: Pod, request: TaskRequest, take: TakeOptions & FreePod): object {
  const { metadata: free } = freePatch(pod, take);
  const { metadata: taken } = takePatch(pod, request, take);
  return {
    metadata: { ...taken, labels: { ...free.labels, ...taken.labels }, annotations: { ...free.annotations, ...taken.annotations } },
  };
}

/**
 * Builds the merge patch that repeats the assignment of a reused pod, so that its kubelet looks at
 * the pod again. The supervisor starts a take once.
 *
 * @param count number of the repetition, which makes it a change
 */
export function repeatPatch(pod: Pod, count: number): object {
  return changeAssignment(pod, { repeat: count });
}

/** Builds the merge patch that asks the supervisor of a reused pod to end the attempt. */
export function abortPatch(pod: Pod): object {
  return changeAssignment(pod, { abort: true });
}

function changeAssignment({ metadata: { uid, resourceVersion, annotations } }: Pod, change: object): object {
  const assignment = JSON.parse(annotations?.[WARM_ASSIGNMENT_ANNOTATION] ?? "{}") as object;
  const changed = JSON.stringify({ ...assignment, ...change });
  return { metadata: { uid, resourceVersion, annotations: { [WARM_ASSIGNMENT_ANNOTATION]: changed } } };
}
