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
} from "./resource/resource.js";
export { hasOnlyUpdateManagers } from "./resource/managed-fields.js";
export { FLYTE_WORKFLOW_CRD } from "./resource/custom-resource-definition.js";

// Building
export { buildFlyteWorkflow } from "./build/workflow.js";
export { WorkflowBuildError } from "./build/build-error.js";
export type { BuildInput } from "./build/input.js";

// Parsing
export {
  parseFlyteWorkflow,
  platformOf,
  referencesOf,
  type OffloadedParts,
  type WorkflowReferences,
} from "./parse/workflow.js";
export { parseClosure, parseEncodedClosure, type ClosureModel } from "./graph/closure.js";
export { isWrappedClosure, wrapClosure } from "./graph/closure-blob.js";
export { decodeWithoutNodes } from "./graph/stream-closure.js";
export { WorkflowFormatError } from "./parse/field.js";
export { checkIdentity } from "./parse/identity.js";
export { readMalformed, type MalformedResource } from "./parse/malformed-resource.js";
export { StatusTooNewError } from "./parse/status-version.js";

// Messages as bytes
export { fieldValues, mapField } from "./graph/encoded-fields.js";

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
} from "./model/model.js";
export { modelExpansion } from "./model/expansion.js";
export { ListInterner } from "./graph/list-interner.js";

// Patches
export { applyMergePatch } from "./resource/merge-patch.js";
export { ownField, setOwnField } from "./resource/own-field.js";
