/** Label of every warm pod: hash of all that its attempts have in common. */
export const WARM_KEY_LABEL = "flyte.org/warm-key";
/** Label of every warm pod: `idle`, or `taken` by an attempt. */
export const WARM_STATE_LABEL = "flyte.org/warm";
/** Annotation of an idle pod: the process whose pool it belongs to. */
export const WARM_POOL_ANNOTATION = "flyte.org/warm-pool";
/** Annotation of a taken pod: uid of the pod and time at which it was taken. */
export const WARM_TAKEN_ANNOTATION = "flyte.org/warm-taken";
/** Annotation of a taken pod: command and variables of the attempt, which its supervisor reads. */
export const WARM_ASSIGNMENT_ANNOTATION = "flyte.org/warm-assignment";
/** Annotation of a task's pod, or of its PodTemplate: `true` or `false`. */
export const WARM_WISH_ANNOTATION = "flyte.org/warm-pods";
/** Variable of a task's container: `true` or `false`. */
export const WARM_WISH_VARIABLE = "FLYTE_TS_WARM_PODS";
