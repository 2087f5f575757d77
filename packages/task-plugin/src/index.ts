// For authors of plugins
export { definePlugin, type OwningWorkflow, type Plugin, type PluginHost } from "./plugin.js";
export { AttemptFailure, PermanentFailure, RetryableFailure, type FailureDetails, type FailureKind } from "./failure.js";
export { RetryLater, type RetryLaterOptions } from "./retry-later.js";
export {
  isTerminalStatus,
  phaseRank,
  type Aborted,
  type TerminalStatus,
  type Failed,
  type Progress,
  type ProgressPhase,
  type StatusDetails,
  type Succeeded,
  type TaskStatus,
} from "./status.js";
export type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
export { decodeAttempt, encodeAttempt } from "./attempt/encode-attempt.js";
export { attemptKey } from "./attempt/attempt-key.js";
export { eventFields } from "./event/event-fields.js";
export { inputsFromFile } from "./item-inputs.js";
export { templateContext, type TemplateContextOptions } from "./template-context.js";

// For plugin services
export { runPlugin, type RunningPlugin, type RunPluginOptions } from "./service/run-plugin.js";
export type { PluginBus } from "./service/plugin-bus.js";
export { findUnclaimedTaskTypes } from "./service/task-type-subscriptions.js";

// For clients of plugin services
export {
  decodeHeartbeat,
  encodeHeartbeat,
  HEARTBEAT_INTERVAL_MS,
  HEARTBEAT_TIMEOUT_MS,
  type PluginHeartbeat,
} from "@flyte-ts/bus-contract";
export { receiveHeartbeats, type ReceiveHeartbeatsOptions } from "./service/receive-heartbeats.js";
export { buildTaskEvent, type TaskEventOptions } from "./event/build-event.js";
