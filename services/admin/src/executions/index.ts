export { taskExecutionRpcs } from "./attempt/rpc.js";
export { type ExecutionsConfig, executionsSettings } from "./config.js";
export { admissionError } from "./create/admission.js";
export { type CreateDeps, createExecution } from "./create/create.js";
export type { LaunchSlots } from "./create/launch-slots.js";
export { ensureSingleTask } from "./create/single-task.js";
export { dataProxyRpcs } from "./data-proxy/rpc.js";
export type { ExecutionsDeps } from "./deps.js";
export { type CompletionPublisherDeps, publishCompletions, wakeParentNodes } from "./engine-notifier/publish-completions.js";
export { publishTerminalAck } from "./engine-notifier/publish-terminal-ack.js";
export {
  checkExecutionId,
  checkNodeId,
  checkTaskId,
  executionIdText,
  executionNotFound,
  type NodeId,
  nodeIdText,
  nodeNotFound,
  type TaskId,
  taskIdText,
  taskNotFound,
} from "./execution/identifier.js";
export { encodeLaunchSettings } from "./execution/launch-settings.js";
export { planExecutions } from "./execution/list.js";
export { executionRpcs } from "./execution/rpc.js";
export { TooManyConflictsError, updateExecutionState } from "./execution/update-state.js";
export { alreadyEnded } from "./model/already-ended.js";
export { offloadDynamicWorkflow } from "./node/dynamic-workflow.js";
export { nodeExecutionRpcs } from "./node/rpc.js";
export { nodePhaseName, taskPhaseName, workflowPhaseName, workflowPhaseOf } from "./projection/phase-name.js";
export { signalRpcs } from "./signal/rpc.js";
export {
  appendTaskEvents,
  loadTasks,
  saveTasks,
  type TaskEventWrite,
  type TaskKey,
  taskKeyText,
  type TaskWrite,
} from "./store/attempt/state.js";
export { markAllTerminal, recheckAllTerminalMark } from "./store/execution/all-terminal-mark.js";
export { findExecutionId } from "./store/execution/find.js";
export { insertExecution, OUTBOX_CHANNEL } from "./store/execution/insert.js";
export { clearLaunchBlocker, setLaunchBlocker } from "./store/execution/launch-blocker.js";
export {
  executionsWithNonTerminalRows,
  findNonTerminalAttempts,
  findNonTerminalNodes,
  incompleteExecutions,
  type NonTerminalAttempt,
} from "./store/execution/non-terminal-rows.js";
export { commitPlacement, resolvePlacement, setExecutionCluster } from "./store/execution/placement.js";
export { recordActivity } from "./store/execution/record-activity.js";
export {
  becomesTerminal,
  type ExecutionName,
  findExecutionState,
  loadExecutionStates,
  saveExecutionStates,
  type StoredExecutionState,
} from "./store/execution/state.js";
export { startInitialAnalyze } from "./store/initial-analyze.js";
export { loadNodes, type NodeKey, nodeKeyText, type NodeWrite, saveNodes } from "./store/node/state.js";
export { findLaunchable, type LaunchableExecution, launchableExecution } from "./store/outbox/launchable.js";
export { outboxMetrics } from "./store/outbox/metrics.js";
export {
  BatchedDelete,
  claimEntries,
  ensureEntry,
  expediteEntries,
  OUTBOX,
  type OutboxEntry,
  requeueEntry,
} from "./store/outbox/outbox.js";
export { publishChanged } from "./streaming/change-notifications.js";
export { streamingRpcs } from "./streaming/rpc.js";
export { startStreaming, type Streaming } from "./streaming/start.js";
