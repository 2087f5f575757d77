// Admin reads these two.
export { WARM_ASSIGNMENT_ANNOTATION, WARM_MODE_LABEL } from "@flyte-ts/domain/name";
/** Label of every warm pod: hash of all that its attempts have in common. */
export const WARM_KEY_LABEL = "flyte.org/warm-key";
/** Label of every warm pod: `idle`, or `taken` by an attempt. */
export const WARM_STATE_LABEL = "flyte.org/warm";
/** Annotation of an idle pod: the process whose pool it belongs to. */
export const WARM_POOL_ANNOTATION = "flyte.org/warm-pool";
/**
 * Annotation of a taken pod: uid of the pod, time at which it was taken, and in a reused pod the
 * name of the take.
 */
export const WARM_TAKEN_ANNOTATION = "flyte.org/warm-taken";
/**
 * Annotation of a reused pod: modules that its supervisor loads ahead, and those that it does not.
 */
export const WARM_PRELOAD_ANNOTATION = "flyte.org/warm-preload";
/** Annotation of a task's pod, or of its PodTemplate: `true`, `false`, or a mode. */
export const WARM_WISH_ANNOTATION = "flyte.org/warm-pods";
/** Variable of a task's container: `true`, `false`, or a mode. */
export const WARM_WISH_VARIABLE = "FLYTE_TS_WARM_PODS";
