// The resource: address, names, labels
export {
  API_VERSION,
  COMPLETED_TIME_LABEL,
  completedTimeLabel,
  DOMAIN_LABEL,
  EXECUTION_ID_LABEL,
  FINALIZER,
  FLYTE_WORKFLOW_RESOURCE,
  KIND,
  NOT_TERMINATED_SELECTOR,
  OWNER_KIND,
  PROJECT_LABEL,
  SHARD_KEY_LABEL,
  TERMINATED,
  terminatedLabels,
  TERMINATION_STATUS_LABEL,
  WORKFLOW_NAME_LABEL,
  type FlyteWorkflowResource,
} from "./resource.js";
export { isRecordOfUpdates } from "./fields-record.js";
export { FLYTE_WORKFLOW_CRD } from "./custom-resource-definition.js";

// Building
export { buildFlyteWorkflow } from "./build/workflow.js";
export { WorkflowBuildError } from "./build/build-error.js";
export { END_NODE, START_NODE } from "./build/node.js";
export type { BuildInput } from "./build/input.js";

// Parsing
export {
  parseFlyteWorkflow,
  platformOf,
  referencesOf,
  type FetchedParts,
  type WorkflowReferences,
} from "./parse/workflow.js";
export { parseClosure, parseEncodedClosure, type ClosureModel } from "./parse/closure.js";
export { isWrappedClosure, wrapClosure } from "./closure-blob.js";
export { closureWithoutNodes } from "./parse/open-closure.js";
export { WorkflowFormatError } from "./parse/read.js";
export { checkIdentity } from "./parse/identity.js";
export { readBroken, type BrokenResource } from "./parse/lenient.js";
export { NewerStatusError } from "./parse/newer-status.js";

// Messages as bytes
export { messagesIn, rewriteField } from "./parse/encoded-fields.js";

// The model
export type {
  BranchModel,
  ExecutionOptions,
  GraphModel,
  NodeModel,
  NodeTarget,
  ParsedWorkflow,
  ResourceQuantities,
  TaskPluginOverride,
  WorkflowModel,
} from "./model.js";
export { modelExpansion } from "./expansion.js";
export { SharedLists } from "./shared-lists.js";

// Status
export {
  SLICE_VERSION,
  STATUS_VERSION,
  type ArrayNodeStatus,
  type CompactArrayJson,
  type ExecutionErrorJson,
  type PlainErrorJson,
  type NodeStatus,
  type SliceRoot,
  type TaskNodeStatus,
  type WorkflowStatus,
} from "./status.js";

// Statuses too large for the resource
export { assembleSlices } from "./slice/assemble.js";
export { decodeSlice, encodeSlice, sliceMissing, type LoadedSlice, MAX_SLICE_BYTES, type SliceEntry } from "./slice/codec.js";
export { sliceUri, type SliceReference } from "./slice/references.js";

// Patches
export { applyMergePatch } from "./merge-patch.js";
export { ownField, setOwnField } from "./own-field.js";
