/** What a stream of the message bus must be. */
export interface StreamDefinition {
  readonly name: string;
  readonly subjects: readonly string[];
  /** `workqueue`: gone when its one consumer took it. `interest`: gone when every consumer took it. */
  readonly retention: "workqueue" | "interest";
}

/** Requests from propeller to plugin services. */
export const TASK_STREAM: StreamDefinition = { name: "FLYTE_TASKS", subjects: ["flyte.task.>"], retention: "workqueue" };

/** Events of plugin services and propeller, for propeller and admin. */
export const EVENT_STREAM: StreamDefinition = { name: "FLYTE_EVENTS", subjects: ["flyte.event.>"], retention: "interest" };

/** Subject on which a plugin service tells that it is there; volatile. */
export const pluginHelloSubject = "flyte.plugin.hello";

const PLAIN_TOKEN = /^[A-Za-z0-9_-]+$/;

/** A task type as one token of a subject: any text maps to its own token of letters, digits, `_`, `-` and `%XX`. */
export function taskTypeToken(taskType: string): string {
  if (taskType === "") return "%";
  if (PLAIN_TOKEN.test(taskType)) return taskType;
  let token = "";
  for (const byte of Buffer.from(taskType)) {
    const character = String.fromCharCode(byte);
    token += /[A-Za-z0-9_-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return token;
}

/** Where requests for a task type go, per shard of the execution. */
export function taskRequestSubject(taskType: string, shard: number): string {
  return `flyte.task.${taskTypeToken(taskType)}.${shard}`;
}

/** All requests for a task type. */
export function taskRequestFilter(taskType: string): string {
  return `flyte.task.${taskTypeToken(taskType)}.*`;
}

/** Where task events of a shard's executions go. */
export function taskEventSubject(shard: number): string {
  return `flyte.event.task.${shard}`;
}

/** All task events. */
export const taskEventFilter = "flyte.event.task.*";

/** Where workflow and node events of a shard's executions go. */
export function executionEventSubject(shard: number): string {
  return `flyte.event.execution.${shard}`;
}

/** All workflow and node events. */
export const executionEventFilter = "flyte.event.execution.*";

/** Where admin tells that an execution's end is recorded; volatile. */
export function executionRecordedSubject(shard: number): string {
  return `flyte.recorded.${shard}`;
}

/** Every shard's subject of executionRecordedSubject. */
export const executionRecordedFilter = "flyte.recorded.*";

/** Where admin tells that something which a node waits for has happened; volatile. */
export function wakeSubject(shard: number): string {
  return `flyte.wake.${shard}`;
}
