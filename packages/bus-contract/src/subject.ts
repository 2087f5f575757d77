/** Required configuration of a stream on the message bus. */
export interface StreamDefinition {
  readonly name: string;
  readonly subjects: readonly string[];
  /**
   * `workqueue`: deleted when its one consumer acknowledged it. `interest`: deleted when every
   * consumer did.
   */
  readonly retention: "workqueue" | "interest";
}

/** Requests from propeller to plugin services. */
export const TASK_STREAM: StreamDefinition = { name: "FLYTE_TASKS", subjects: ["flyte.task.>"], retention: "workqueue" };

/** Events of plugin services and propeller, for propeller and admin. */
export const EVENT_STREAM: StreamDefinition = { name: "FLYTE_EVENTS", subjects: ["flyte.event.>"], retention: "interest" };

/**
 * Subject of the heartbeats of plugin services; volatile. Every plugin service may send on it: it
 * does not prove that the sender serves the types that it names.
 */
export const pluginHelloSubject = "flyte.plugin.hello";

const PLAIN_TOKEN = /^[A-Za-z0-9_-]+$/;

/**
 * Encodes a task type as one token of a subject: any text maps to its own token of letters, digits,
 * `_`, `-` and `%XX`.
 */
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

/**
 * Subject of the heartbeats for one task type; volatile. Only the services that serve the type may
 * send on it.
 */
export function taskTypeHelloSubject(taskType: string): string {
  return `${pluginHelloSubject}.${taskTypeToken(taskType)}`;
}

/** Filter for the subjects of taskTypeHelloSubject of every task type. */
export const taskTypeHelloFilter = `${pluginHelloSubject}.*`;

/** Subject of requests for a task type, per shard of the execution. */
export function taskRequestSubject(taskType: string, shard: number): string {
  return `flyte.task.${taskTypeToken(taskType)}.${shard}`;
}

/** Filter for all requests for a task type. */
export function taskRequestFilter(taskType: string): string {
  return `flyte.task.${taskTypeToken(taskType)}.*`;
}

/** Subject of task events of a shard's executions. */
export function taskEventSubject(shard: number): string {
  return `flyte.event.task.${shard}`;
}

/** Filter for all task events. */
export const taskEventFilter = "flyte.event.task.*";

/** Subject of workflow and node events of a shard's executions. */
export function executionEventSubject(shard: number): string {
  return `flyte.event.execution.${shard}`;
}

/** Filter for all workflow and node events. */
export const executionEventFilter = "flyte.event.execution.*";

/** Subject on which admin announces that an execution's end is recorded; volatile. */
export function executionRecordedSubject(shard: number): string {
  return `flyte.recorded.${shard}`;
}

/** Filter for the subjects of executionRecordedSubject of every shard. */
export const executionRecordedFilter = "flyte.recorded.*";

/** Subject on which admin announces an event that a node waits for; volatile. */
export function executionWakeSubject(shard: number): string {
  return `flyte.wake.${shard}`;
}
