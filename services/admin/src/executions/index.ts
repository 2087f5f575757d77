export { taskExecutionRpcs } from "./attempt/rpc.js";
export { type ExecutionsConfig, executionsSettings } from "./config.js";
export { admissionError } from "./create/admission.js";
export { type CreateDeps, createExecution } from "./create/create.js";
export { ensureSingleTask } from "./create/single-task.js";
export { dataProxyRpcs } from "./data-proxy/rpc.js";
export type { ExecutionsDeps } from "./deps.js";
export { type CompletionPublisherDeps, publishCompletions, wakeParentNodes } from "./engine-notifier/publish-completions.js";
export { publishTerminalAck } from "./engine-notifier/publish-terminal-ack.js";
export { planExecutions } from "./execution/list.js";
export { executionRpcs } from "./execution/rpc.js";
export { TooManyConflictsError, updateExecutionState } from "./execution/update-state.js";
export { alreadyEnded } from "./model/already-ended.js";
export {
  checkExecutionId,
  checkNodeId,
  checkTaskId,
  executionIdText,
  type ExecutionName,
  executionNotFound,
  type NodeId,
  nodeIdText,
  nodeNotFound,
  type TaskId,
  taskIdText,
  taskNotFound,
} from "./model/identifier.js";
export { encodeLaunchSettings } from "./model/launch-settings.js";
export { nodePhaseName, taskPhaseName, workflowPhaseName, workflowPhaseOf } from "./model/phase-name.js";
export { offloadDynamicWorkflow } from "./node/dynamic-workflow.js";
export { nodeExecutionRpcs } from "./node/rpc.js";
export { signalRpcs } from "./signal/rpc.js";
export { findArrayAttempts, listAttemptsAfter, loadEventsOfAttempts } from "./store/attempt/find.js";
export {
  appendTaskEvents,
  loadTasks,
  saveTasks,
  type TaskEventWrite,
  type TaskKey,
  taskKeyText,
  type TaskWrite,
} from "./store/attempt/state.js";
export { markAllTerminal, recheckAllTerminalMark } from "./store/completeness/all-terminal-mark.js";
export {
  executionsWithNonTerminalRows,
  findNonTerminalAttempts,
  findNonTerminalNodes,
  incompleteExecutions,
  type NonTerminalAttempt,
} from "./store/completeness/non-terminal-rows.js";
export { recordActivity } from "./store/completeness/record-activity.js";
export { claimCompletions, type CompletedRow } from "./store/completions.js";
export { deleteChildRows, deleteExecutionRows } from "./store/delete-rows.js";
export { cancelDeletion, claimDueDeletions, confirmDeletion, countDeletions, insertDeletions, type Mark } from "./store/deletions.js";
export { claimStale, type StaleExecution } from "./store/execution/claim-stale.js";
export { claimTerminal, type TerminalExecution } from "./store/execution/claim-terminal.js";
export {
  type ExecutionResultRow,
  existsAny,
  existsOtherNamed,
  findExecutionId,
  findExecutionIds,
  findExecutionResult,
  loadPlacements,
  type PlacedExecution,
} from "./store/execution/find.js";
export { insertExecution, OUTBOX_CHANNEL } from "./store/execution/insert.js";
export { clearLaunchBlocker, setLaunchBlocker } from "./store/execution/launch-blocker.js";
export { commitPlacement, setExecutionCluster } from "./store/execution/placement.js";
export {
  becomesTerminal,
  findExecutionState,
  loadExecutionStates,
  saveExecutionStates,
  type StoredExecutionState,
} from "./store/execution/state.js";
export { findOverdue, markAbortForced, markImported, writeBlockers } from "./store/execution/update.js";
export { type Expired, type ExpiryCursor, type ExpiryOptions, findExpired, listProjectDomains } from "./store/expired.js";
export { startInitialAnalyze } from "./store/initial-analyze.js";
export { executionsWithCacheStatus } from "./store/node/find.js";
export { loadNodes, type NodeKey, nodeKeyText, type NodeWrite, saveNodes } from "./store/node/state.js";
export type { LaunchSlots } from "./store/outbox/launch-slots.js";
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
export { streamingRpcs } from "./streaming/api/rpc.js";
export { startStreaming, type Streaming } from "./streaming/api/start.js";
export { publishChanged } from "./streaming/change-notifications.js";
