export { fnv32a, fnv64a } from "./name/hash.js";
export { fixedLengthUniqueId, type UniqueIdHash } from "./name/unique-id.js";
export {
  nodeUniqueId,
  taskUniqueId,
  taskGeneratedName,
  childExecutionName,
  type AttemptName,
  type ParentNode,
} from "./name/attempt-name.js";
export { SHARD_COUNT, shardOf, rawOutputShard } from "./name/shard.js";
export { scheduledExecutionName } from "./name/scheduled-execution-name.js";
export { triggeredExecutionName } from "./name/triggered-execution-name.js";
export { randomExecutionName, singleTaskNodeId, singleTaskWorkflowName } from "./name/execution.js";
export { dns1123Subdomain, executionNamespace, sanitizeLabelValue } from "./name/kubernetes.js";
export { attemptLogTag, readTaggedLine, type TaggedLine } from "./name/attempt-log-tag.js";
export { WARM_ASSIGNMENT_ANNOTATION, WARM_MODE_LABEL } from "./name/warm-pod.js";
