// For authors of plugins
export { definePlugin, type OwningWorkflow, type Plugin, type PluginHost } from "./plugin.js";
export { AttemptFailure, PermanentFailure, RetryableFailure, type FailureDetails, type FailureKind } from "./failure.js";
export { NotYet, type NotYetOptions } from "./not-yet.js";
export {
  isEnded,
  phaseOrder,
  type Aborted,
  type EndedStatus,
  type Failed,
  type Progress,
  type ProgressPhase,
  type StatusDetails,
  type Succeeded,
  type TaskStatus,
} from "./status.js";
export { attemptKey } from "./attempt-key.js";
export { eventBasis } from "./event-basis.js";
export { inputsForFile, inputsFromFile } from "./item-inputs.js";

// For plugin services
export { runPlugin, type RunningPlugin, type RunPluginOptions } from "./run-plugin.js";
export type { PluginBus } from "./plugin-bus.js";

// For clients of plugin services
export { decodeHello, encodeHello, HELLO_INTERVAL_MS, type PluginHello } from "./hello.js";
export { mintTaskEvent, type MintOptions } from "./mint-event.js";
