// State of an execution derived from its events: facts of events, states of rows, the folds
// between, and facts of resources.
export { type InferredEnd, inferNodeEnd, inferAttemptEnd } from "./inferred-end.js";
export { errorColumns } from "./error-columns.js";
export type { ErrorColumns, NodeUpdate, BlockerUpdate, TaskUpdate, WorkflowUpdate } from "./updates.js";
export { foldNode, type NodeState } from "./node-state.js";
export { ABORT_SEQ, executionEventSeq, taskEventSeq } from "./event-seq.js";
export { nextSeq, type CommonState, supersedesInferredEnd } from "./common-state.js";
export { InvalidEventError, type OffloadUris, readNodeEvent, readBlocker, readTaskEvent, readWorkflowEvent } from "./read-event.js";
export { endOfResource, statusError } from "./resource-end.js";
export { endOfNode, isReportedEnd, type ResourceNode, resourceNodes } from "./resource-nodes.js";
export { sanitizeText } from "./sanitize-text.js";
export { taskKey } from "./task-key.js";
export { isPartOfHistory, foldTask, type TaskState } from "./task-state.js";
export { durationOf, isTime, nanosOf, nanosOfDate, notBefore, clampNanos, timestampOf } from "./time.js";
export { initialWorkflowState, elapsed, foldWorkflow, nextWorkflowSeq, type WorkflowResult, type WorkflowState } from "./workflow-state.js";
