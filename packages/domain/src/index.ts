// Phases
export {
  NodePhase,
  nodePhases,
  isTerminalNode,
  isTerminalNodeEvent,
  nodeEventPhase,
  type NodePhaseRow,
} from "./phase/node.js";
export {
  WorkflowPhase,
  workflowPhases,
  isTerminalWorkflow,
  isTerminalWorkflowEvent,
  workflowEventPhase,
  type WorkflowPhaseRow,
} from "./phase/workflow.js";
export {
  TaskPhase,
  taskPhases,
  isTerminalTaskEvent,
  taskEventPhase,
  taskPhaseOfEvent,
  type TaskPhaseRow,
} from "./phase/task.js";

// Messages
export { decodeMessage } from "./message/decode.js";
export { messageFactory } from "./message/empty.js";
export { encodeMessage } from "./message/encode.js";

// Names
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

// Identifiers
export { identifierKey, parseIdentifierKey, executionKey, workflowIdText } from "./identifier/key.js";
export { flyteUrl, parseFlyteUrl, type FlyteUrl, type FlyteUrlKind } from "./identifier/flyte-url.js";
export { deterministicUuid } from "./identifier/deterministic-uuid.js";

// Command templates
export { escapeReferences } from "./template/variable-reference.js";
export { renderTemplate, usesTaskTemplatePath, TemplateError, type TemplateContext } from "./template/render.js";
export { literalText } from "./template/literal-text.js";

// Message subjects
export {
  TASK_STREAM,
  EVENT_STREAM,
  pluginHelloSubject,
  taskTypeToken,
  taskRequestSubject,
  taskRequestFilter,
  taskEventSubject,
  taskEventFilter,
  executionEventSubject,
  executionEventFilter,
  executionRecordedSubject,
  executionRecordedFilter,
  executionWakeSubject,
  type StreamDefinition,
} from "./subject/subject.js";
export { allEventFilters, dataPlaneScope, type DataPlaneScope, eventOrigin, type EventOrigin } from "./subject/data-plane.js";

// Types
export { isCastable } from "./type/castable.js";
export { MAX_NESTING, exceedsDepth } from "./type/nesting.js";
export { compareText } from "./type/order.js";
export { protoText } from "./type/proto-text.js";
export { isNoneType, simpleType } from "./type/simple.js";
export { typeToText } from "./type/text.js";

// Quantities and durations
export {
  canonicalQuantity,
  compareQuantities,
  divideUp,
  isQuantity,
  isZeroQuantity,
  parseQuantity,
  QuantityError,
  type Quantity,
} from "./quantity/quantity.js";
export { goDuration, nanosecondsOf, parseGoDuration } from "./duration/go-duration.js";

// Schedules
export { parseCron, type CronExpression, type CronFields, type CronInterval, type CronParse } from "./schedule/cron-expression.js";
export { cronRecurrence, intervalRecurrence, latestOccurrence, type Recurrence } from "./schedule/recurrence.js";
export { scheduleRecurrence } from "./schedule/schedule-recurrence.js";
export { isTimeZone, TimeZones } from "./schedule/time-zone.js";

// Literals
export {
  MSGPACK_TAG,
  binaryLiteral,
  booleanLiteral,
  collectionLiteral,
  datetimeLiteral,
  durationLiteral,
  floatLiteral,
  integerLiteral,
  literalMap,
  mapLiteral,
  noneLiteral,
  stringLiteral,
  structLiteral,
  unionLiteral,
} from "./literal/build.js";
export { resolveJsonPointer, JsonLiteralError, literalFromJson, parseJsonPointer } from "./literal/from-json.js";
export { literalsEqual } from "./literal/equal.js";
export { literalFitsType } from "./literal/fits.js";
export { literalTypeOf, simpleTypeOfPrimitive, scalarTypeOf } from "./literal/literal-type.js";
export { AttributeError, resolveAttributes, type AttributeErrorCode, type OffloadedAt } from "./literal/attribute.js";
export {
  checkInputs,
  checkLiterals,
  type CheckedInputs,
  type InputCheck,
  type InputError,
  type InputErrorCode,
} from "./literal/inputs.js";

// Bindings and conditions
export { parseVariableName, type VariableName } from "./binding/variable-name.js";
export {
  resolveBindings,
  type BindingError,
  type BindingErrorCode,
  type BindingSources,
  type BoundInputs,
} from "./binding/resolve.js";
export { evaluateCondition, type ConditionError, type ConditionResult } from "./binding/condition.js";

// Cache
export { cacheKeyOf, type CacheKey } from "./catalog/cached-call.js";
export { hashInputs } from "./catalog/literal-hash.js";
export { objectHash } from "./catalog/object-hash.js";

// Graphs
export {
  checkExpansion,
  expansionOf,
  ExpansionError,
  type Expansion,
  type ExpansionLimits,
  type GraphUse,
} from "./graph/expansion.js";
