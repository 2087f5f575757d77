// State of an execution derived from its events: facts of events, states of rows, the folds
// between, and facts of resources.
export { type InferredEnd, inferNodeEnd, inferAttemptEnd } from "./resource/inferred-end.js";
export { errorColumns } from "./event/error-columns.js";
export type { ErrorColumns, NodeUpdate, BlockerUpdate, TaskUpdate, WorkflowUpdate } from "./event/updates.js";
export { foldNode, type NodeState } from "./fold/node-state.js";
export { ABORT_SEQ, executionEventSeq, taskEventSeq } from "./event/event-seq.js";
export { nextSeq, type CommonState, supersedesInferredEnd } from "./fold/common-state.js";
export { InvalidEventError, type OffloadUris, readNodeEvent, readBlocker, readTaskEvent, readWorkflowEvent } from "./event/read-event.js";
export { endOfResource, statusError } from "./resource/resource-end.js";
export { endOfNode, isReportedEnd, type ResourceNode, resourceNodes } from "./resource/resource-nodes.js";
export { sanitizeText } from "./event/sanitize-text.js";
export { taskKey } from "./event/task-key.js";
export { isPartOfHistory, foldTask, type TaskState } from "./fold/task-state.js";
export { durationOf, nanosOf, nanosOfDate, notBefore, clampNanos, timestampOf } from "./event/time.js";
export {
  initialWorkflowState,
  elapsed,
  foldWorkflow,
  nextWorkflowSeq,
  type WorkflowResult,
  type WorkflowState,
} from "./fold/workflow-state.js";
