import { BoundedMap } from "@flyte-ts/async";
import { eventOrigin, type EventOrigin } from "@flyte-ts/bus-contract";
import { decodeMessage } from "@flyte-ts/proto-codec";
import { checkMessageLimits } from "@flyte-ts/messaging";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { NodeExecutionEvent, TaskExecutionEvent, WorkflowExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { type ExecutionEvent, ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import {
  executionEventSeq,
  taskEventSeq,
  InvalidEventError,
  type OffloadUris,
  readNodeEvent,
  readBlocker,
  readTaskEvent,
  readWorkflowEvent,
} from "@flyte-ts/execution-state";
import type { executionIds } from "../../executions/index.js";
import type { DecodedEvent } from "../decoded-event.js";

/** Sender of an event. */
type Sender = Pick<DecodedEvent, "cluster" | "workflowKey" | "acceptedSecond">;

/** Origins by subject: the events of one shard have the same one. */
const origins = new BoundedMap<string, EventOrigin | "none">(1_000);

function originOf(subject: string): EventOrigin | undefined {
  let origin = origins.get(subject);
  if (origin === undefined) origins.set(subject, (origin = eventOrigin(subject) ?? "none"));
  return origin === "none" ? undefined : origin;
}

/**
 * Decodes one message of the event stream; undefined when admin stores nothing for it: the items of
 * an array node are part of the array's own task execution.
 *
 * @throws InvalidEventError, MessageLimitError, or the decoder's own error, for an invalid message.
 */
export function decodeEvent(subject: string, data: Uint8Array, names: OffloadUris): DecodedEvent | undefined {
  const origin = originOf(subject);
  return origin?.kind === "task" ? readTask(data, names, origin.cluster) : readExecution(data, names, origin?.cluster);
}

function readTask(data: Uint8Array, names: OffloadUris, cluster: string | undefined): DecodedEvent | undefined {
  const { event, outputs, partOfArray, workflowKey } = decodeMessage(TaskEventSchema, checkMessageLimits(TaskEventSchema, data));
  return partOfArray ? undefined : taskEvent(event, { outputs, sender: senderOf(workflowKey, cluster) }, names);
}

function readExecution(data: Uint8Array, names: OffloadUris, cluster: string | undefined): DecodedEvent {
  const message = decodeMessage(ExecutionEventSchema, checkMessageLimits(ExecutionEventSchema, data));
  const sender = { ...senderOf(message.workflowKey, cluster), acceptedSecond: message.acceptedAt?.seconds };
  switch (message.event.case) {
    case "workflow":
      return workflowEvent(message.event.value, { message, sender }, names);
    case "node":
      return nodeEvent(message.event.value, { message, sender }, names);
    case "task":
      return arrayEvent(message.event.value, { message, sender }, names);
    case "notice": {
      const { executionId } = message.event.value;
      return { kind: "notice", execution: nameOf(executionId), fact: readBlocker(message.event.value), order: message.sequence, ...sender };
    }
    case undefined:
      throw new InvalidEventError("the message contains no event");
    default:
      return message.event satisfies never;
  }
}

/** Builds before it named their resources leave `workflowKey` empty. */
function senderOf(workflowKey: string, cluster: string | undefined): Sender {
  return { cluster, workflowKey: workflowKey === "" ? undefined : workflowKey };
}

/** An event as sent by propeller, and its sender. */
interface SentByPropeller {
  readonly message: ExecutionEvent;
  readonly sender: Sender;
}

function workflowEvent(event: WorkflowExecutionEvent, { message, sender }: SentByPropeller, names: OffloadUris): DecodedEvent {
  const execution = nameOf(event.executionId);
  const update = readWorkflowEvent(event, message, names);
  const order = executionEventSeq(message.sequence, update.occurredAt, update.phase);
  return { kind: "workflow", execution, fact: update, order, endedNodes: message.endedNodes, ...sender };
}

function nodeEvent(event: NodeExecutionEvent, { message, sender }: SentByPropeller, names: OffloadUris): DecodedEvent {
  const execution = nameOf(event.id?.executionId);
  const nodeId = keyText(event.id?.nodeId ?? "", "node_id");
  const update = readNodeEvent(event, message, names);
  const { cluster, workflowKey, acceptedSecond } = sender;
  const order = executionEventSeq(message.sequence, update.occurredAt, update.phase);
  return { kind: "node", execution, nodeId, fact: update, order, cluster, workflowKey, acceptedSecond };
}

/**
 * Event of an array's task execution: propeller's sequence number counts the messages of the whole
 * execution.
 */
function arrayEvent(event: TaskExecutionEvent, { message, sender }: SentByPropeller, names: OffloadUris): DecodedEvent {
  const item = taskEvent(event, { outputs: message.outputs, sender }, names);
  return message.sequence > 0n ? { ...item, order: message.sequence } : item;
}

function taskEvent(
  event: TaskExecutionEvent | undefined,
  { outputs, sender }: { readonly outputs: LiteralMap | undefined; readonly sender: Sender },
  names: OffloadUris,
): DecodedEvent {
  if (event === undefined) throw new InvalidEventError("the message contains no event");
  const node = event.parentNodeExecutionId;
  const task = event.taskId;
  if (task === undefined) throw new InvalidEventError("missing task_id");
  const key = {
    nodeId: keyText(node?.nodeId ?? "", "node_id"),
    task: {
      project: keyText(task.project, "task project"),
      domain: keyText(task.domain, "task domain"),
      name: keyText(task.name, "task name"),
      version: keyText(task.version, "task version"),
    },
    retryAttempt: event.retryAttempt,
  };
  const update = readTaskEvent(event, { outputs }, names);
  return {
    kind: "task",
    execution: nameOf(node?.executionId),
    key,
    fact: update,
    order: taskEventSeq(update.phase, update.phaseVersion),
    cluster: sender.cluster,
    workflowKey: sender.workflowKey,
    acceptedSecond: sender.acceptedSecond,
  };
}

function nameOf(id: executionIds.ExecutionName | undefined): executionIds.ExecutionName {
  const { project = "", domain = "", name = "" } = id ?? {};
  return { project: keyText(project, "project"), domain: keyText(domain, "domain"), name: keyText(name, "execution name") };
}

function keyText(value: string, field: string): string {
  if (value === "" || value.includes("\0")) throw new InvalidEventError(`${field}: must be set and contain no NUL character`);
  return value;
}
