// Tasks of operators as one pod
export { describeOnePod } from "./one-pod/as-one-pod.js";
export { type OnePodConfig, onePodTaskType } from "./one-pod/one-pod-config.js";
