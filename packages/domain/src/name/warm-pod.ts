/** Label of a warm pod that serves several attempts: `reused`. */
export const WARM_MODE_LABEL = "flyte.org/warm-mode";
/** Annotation of a taken pod: command and variables of the attempt, which its supervisor reads. */
export const WARM_ASSIGNMENT_ANNOTATION = "flyte.org/warm-assignment";
