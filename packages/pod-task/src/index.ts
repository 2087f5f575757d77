// The pod of an attempt
export { buildPod, type BuildPodOptions, type PodConfig } from "./build/build-pod.js";
export { podConfig } from "./build/pod-config.js";
export { addServiceVariables } from "./build/environment.js";
export { InvalidPodSpecError } from "./build/invalid-pod-spec.js";
export type { Container, ContainerState, JsonMap, Pod, PodCondition, PodSpec } from "./pod-types.js";

// Creation, ownership and the annotation that identifies the attempt
export { createPod, type CreatePodDeps } from "./create/create-pod.js";
export {
  ATTEMPT_ANNOTATION,
  decodeAttemptAnnotation,
  encodeAttemptAnnotation,
  minimalAttempt,
  reduceRequest,
} from "./create/attempt-annotation.js";
export { asRetryLater, kubeUnavailable, toCreateError } from "./create/create-error.js";
export { belongsToAttempt, isOwnedBy, requireAttemptPod } from "./create/ownership.js";

// State and result
export type { AttemptState, GracePeriods } from "./status/attempt-state.js";
export { attemptState } from "./status/derive-attempt-state.js";
export { podMissingFailure } from "./status/deletion.js";
export { readResult, type AttemptResult, type ResultLimits } from "./result/read-result.js";
export type { DataStore } from "./result/data-store.js";
export { POD_CREATED_STATE, PodStatusReader, type PodObservation, type PodStatusDeps } from "./pod-status.js";

// A cache with a bound
export { BoundedMap } from "./bounded-map.js";

// Logs
export { type LogLink, logLinks } from "./logs/log-links.js";
export { LogArchive, type LogArchiveConfig } from "./logs/log-archive.js";
