export {
  TASK_STREAM,
  EVENT_STREAM,
  pluginHelloSubject,
  taskTypeHelloFilter,
  taskTypeHelloSubject,
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
} from "./subject.js";
export {
  decodeHeartbeat,
  encodeHeartbeat,
  HEARTBEAT_INTERVAL_MS,
  HEARTBEAT_TIMEOUT_MS,
  type PluginHeartbeat,
  type PluginLoad,
} from "./heartbeat.js";
export { allHelloFilters, type HelloOrigin, helloOrigin } from "./hello-origin.js";
export { allEventFilters, dataPlaneScope, type DataPlaneScope, eventOrigin, eventQueue, type EventOrigin } from "./data-plane.js";
