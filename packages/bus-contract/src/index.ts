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
export { allEventFilters, dataPlaneScope, type DataPlaneScope, eventOrigin, type EventOrigin } from "./data-plane.js";
