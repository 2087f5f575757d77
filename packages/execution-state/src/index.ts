// State of an execution derived from its events: facts of events, states of rows, the folds between, and facts of resources.
export { type Settlement, settleNode, settleTask } from "./assumed-end.js";
export { errorFact } from "./error-fact.js";
export type { ErrorFact, NodeFact, NoticeFact, TaskFact, WorkflowFact } from "./facts.js";
export { foldNode, type NodeState } from "./node-state.js";
export { ABORT_ORDER, executionEventOrder, taskEventOrder } from "./order.js";
export { nextOrder, type Progress, replacesEnd } from "./progress.js";
export { BadEvent, type OffloadNames, readNodeEvent, readNotice, readTaskEvent, readWorkflowEvent } from "./read.js";
export { endOfResource, statusError } from "./resource-end.js";
export { endOfNode, isToldEnd, type ResourceNode, resourceNodes } from "./resource-nodes.js";
export { storableText } from "./storable-text.js";
export { taskKey } from "./task-key.js";
export { belongsToTask, foldTask, type TaskState } from "./task-state.js";
export { durationOf, isTime, nanosOf, nanosOfDate, notBefore, storable, timestampOf } from "./time.js";
export { acceptedWorkflow, elapsed, foldWorkflow, nextWorkflowOrder, type WorkflowResult, type WorkflowState } from "./workflow-state.js";
