export { fnv32a, fnv64a } from "./hash.js";
export { fixedLengthUniqueId, type UniqueIdHash } from "./unique-id.js";
export {
  nodeUniqueId,
  taskUniqueId,
  taskGeneratedName,
  childExecutionName,
  type AttemptName,
  type ParentNode,
} from "./derived.js";
export { SHARD_COUNT, shardOf, rawOutputShard } from "./shard.js";
export { scheduledExecutionName } from "./scheduled.js";
export { triggeredExecutionName } from "./triggered.js";
export { randomExecutionName, singleTaskNodeId, singleTaskWorkflowName } from "./execution.js";
export { dns1123Subdomain, executionNamespace, sanitizeLabelValue } from "./kubernetes.js";
