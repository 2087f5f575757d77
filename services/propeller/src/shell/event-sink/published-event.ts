import { clone } from "@bufbuild/protobuf";
import { isTerminalNodeEvent } from "@flyte-ts/domain/phase";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  type NodeExecutionEvent,
  NodeExecutionEventSchema,
  type TaskExecutionEvent,
  TaskExecutionEventSchema,
  type WorkflowExecutionEvent,
  WorkflowExecutionEventSchema,
} from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";

/** An event in the form of the public API. */
export type PublishedEvent =
  | { readonly kind: "workflow"; readonly event: WorkflowExecutionEvent }
  | { readonly kind: "node"; readonly event: NodeExecutionEvent }
  | { readonly kind: "task"; readonly event: TaskExecutionEvent };

/**
 * Extracts the public event and moves values that accompany it, because no blob holds them, into
 * it.
 */
export function publishedEvent({ event, inputs, outputs }: ExecutionEvent): PublishedEvent | undefined {
  switch (event.case) {
    case "workflow":
      return { kind: "workflow", event: withOutputs(clone(WorkflowExecutionEventSchema, event.value), outputs) };
    case "node": {
      const node = withOutputs(clone(NodeExecutionEventSchema, event.value), outputs);
      if (inputs !== undefined) node.inputValue = { case: "inputData", value: inputs };
      return { kind: "node", event: node };
    }
    case "task":
      return publishedTaskEvent(event.value, outputs);
    // The public API has no such event.
    case "notice":
    case undefined:
      return undefined;
  }
}

export function publishedTaskEvent(event: TaskExecutionEvent, outputs: LiteralMap | undefined): PublishedEvent {
  return { kind: "task", event: withOutputs(clone(TaskExecutionEventSchema, event), outputs) };
}

interface WithResult {
  outputResult: WorkflowExecutionEvent["outputResult"] | NodeExecutionEvent["outputResult"] | TaskExecutionEvent["outputResult"];
}

function withOutputs<T extends WithResult>(event: T, outputs: LiteralMap | undefined): T {
  if (outputs !== undefined && event.outputResult.case === "outputUri") event.outputResult = { case: "outputData", value: outputs };
  return event;
}

/** Deduplication key: subject and phase of an event. */
export function eventDedupKey(published: PublishedEvent): string {
  switch (published.kind) {
    case "workflow":
      return `workflow ${published.event.phase}`;
    case "node":
      return `node ${published.event.id?.nodeId ?? ""} ${published.event.phase}`;
    case "task": {
      const { parentNodeExecutionId, retryAttempt, phase, phaseVersion, taskId } = published.event;
      return `task ${parentNodeExecutionId?.nodeId ?? ""} ${taskId?.name ?? ""} ${retryAttempt} ${phase} ${phaseVersion}`;
    }
  }
}

/**
 * Unique id of the node that must be recorded before the event: an attempt's own, or a node's
 * parent.
 */
export function requiredNodeId({ kind, event }: PublishedEvent): string | undefined {
  if (kind === "task") return event.parentNodeExecutionId?.nodeId || undefined;
  return kind === "node" ? event.parentNodeMetadata?.nodeId || undefined : undefined;
}

/**
 * Tells whether an event may be sent before an earlier one of its execution: the end of a node
 * before what is neither an end nor of the same node, of one above it or of one below it. Clients
 * wait for ends, while a node that starts late shows its own time.
 */
export function mayOvertake(later: PublishedEvent, earlier: PublishedEvent): boolean {
  if (!isNodeEnd(later) || isNodeEnd(earlier)) return false;
  const [node, other] = [nodeIdOf(later), nodeIdOf(earlier)];
  return node !== undefined && other !== undefined && !isWithin(node, other) && !isWithin(other, node);
}

function isNodeEnd({ kind, event }: PublishedEvent): boolean {
  return kind === "node" && isTerminalNodeEvent(event.phase);
}

/** Unique id of the event's node; undefined for an event of the execution as a whole. */
function nodeIdOf({ kind, event }: PublishedEvent): string | undefined {
  if (kind === "workflow") return undefined;
  return kind === "task" ? event.parentNodeExecutionId?.nodeId : event.id?.nodeId;
}

/** The unique id of a node begins with that of the node it is in. */
function isWithin(nodeId: string, outer: string): boolean {
  return nodeId.startsWith(outer) && (nodeId.length === outer.length || nodeId[outer.length] === "-");
}
