// Warm pods: started ahead, and taken by one attempt at a time
export {
  WARM_KEY_LABEL,
  WARM_MODE_LABEL,
  WARM_POOL_ANNOTATION,
  WARM_PRELOAD_ANNOTATION,
  WARM_STATE_LABEL,
  WARM_WISH_ANNOTATION,
  WARM_WISH_VARIABLE,
} from "./warm/names.js";
export { podName } from "./pod-status.js";
export { isIdleWarmPod, takenAt } from "./warm/taken-pod.js";
export { takePatch } from "./warm/take-patch.js";
export { type ReuseLimits, warmStart, type WarmStart, type WarmStartOptions } from "./warm/warm-start.js";
// Pods that serve several attempts
export {
  type AttemptEnd,
  isEndOfPod,
  MAX_PRELOADS,
  moduleName,
  parseAttemptEnd,
  takeOf,
  withAttemptEnd,
  withEndFromStatus,
} from "./warm/reused/attempt-end.js";
export { abortPatch, type FreePod, freePatch, handOverPatch, repeatPatch } from "./warm/reused/patches.js";
