// The pod of an attempt, and pod specs for the resources of operators
export { buildPod } from "./build/build-pod.js";
export { buildPodSpec, type BuiltPodSpec } from "./build/build-pod-spec.js";
export type { BuildPodOptions, PodConfig } from "./build/pod-config.js";
export { PRIMARY_CONTAINER_KEY } from "./build/declared-pod.js";
export { addServiceVariables } from "./build/environment.js";
export { InvalidPodSpecError } from "./build/invalid-pod-spec.js";
export { objectMeta, OPERATOR_JOB_LABEL } from "./build/object-meta.js";
export { applyPodTemplate, mergePodFields } from "./build/pod-template.js";
export { containerResources, mergeResources } from "./build/resources.js";
export type { Container, ContainerState, EnvVar, JsonMap, Pod, PodCondition, PodSpec, PodTemplate } from "./pod-types.js";

// Creation, ownership, and the annotation that identifies the attempt
export { buildAttemptPod, buildWithPrerequisites, createBuiltPod, createPod, type CreatePodDeps } from "./create/create-pod.js";
export { createAttemptObject } from "./create/create-object.js";
export { ATTEMPT_ANNOTATION, decodeAttemptAnnotation, minimalAttempt, reduceRequest } from "./create/attempt-annotation.js";
export { asRetryLater, kubeUnavailable, toCreateError } from "./create/create-error.js";
export { objectName } from "./create/object-name.js";
export { belongsToAttempt, isOwnedBy, requireAttemptObject } from "./create/ownership.js";

// State and result
export { derivePodState } from "./status/derive-pod-state.js";
export { type GracePeriods, joinReasons, type PodState } from "./status/pod-state.js";
export { objectMissingFailure, podMissingFailure } from "./status/deletion.js";
export { parseTime } from "./status/pod-times.js";
export { OOM_KILLED } from "./status/terminal-result.js";
export { trimPod } from "./status/trim-pod.js";
export { POD_CREATED_STATE, type PodObservation, type PodStatusDeps, PodStatusReader } from "./pod-status.js";
export type { DataStore, ListingStore } from "./result/data-store.js";
export { readEarliestError } from "./result/earliest-error.js";
export { type AttemptResult, readErrorDocument, readResult } from "./result/read-result.js";
export { readOrRetryLater, resultStatus } from "./result/result-status.js";
