import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { isTerminalNodeEvent, isTerminalTaskEvent } from "@flyte-ts/domain/phase";
import type { NodeExecution } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { NodeExecution_Phase as NodePhase, TaskExecution_Phase as TaskPhase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import {
  type NodeExecutionEvent,
  NodeExecutionEventSchema,
  type TaskExecutionEvent,
  TaskExecutionEventSchema,
} from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { ImportedAttempt, ImportedNode } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { nanosOf, clampNanos, timestampOf } from "@flyte-ts/execution-state";

// Reconstructs the engine's events from API data: the creation, the start and the end.

/** Returns the time of the end: start plus duration, which is more exact than the last update. */
export function endOf(closure: {
  readonly startedAt?: Timestamp;
  readonly duration?: { readonly seconds: bigint; readonly nanos: number };
  readonly updatedAt?: Timestamp;
  readonly createdAt?: Timestamp;
}): bigint {
  const { startedAt, duration, updatedAt, createdAt } = closure;
  if (startedAt !== undefined && duration !== undefined && (duration.seconds !== 0n || duration.nanos !== 0))
    return clampNanos(nanosOf(startedAt) + duration.seconds * 1_000_000_000n + BigInt(duration.nanos));
  const last = updatedAt ?? startedAt ?? createdAt;
  return last === undefined ? 0n : nanosOf(last);
}

/** Returns the events of a node in order. */
export function nodeEvents({ node, parentNodeId }: ImportedNode): NodeExecutionEvent[] {
  if (node?.id === undefined || node.closure === undefined) return [];
  const { id, closure, inputUri, metadata } = node;
  const base = {
    id,
    eventVersion: 1,
    retryGroup: metadata?.retryGroup ?? "",
    specNodeId: metadata?.specNodeId ?? id.nodeId,
    isParent: metadata?.isParentNode ?? false,
    isDynamic: metadata?.isDynamic ?? false,
    isArray: metadata?.isArray ?? false,
    ...(inputUri !== "" && { inputValue: { case: "inputUri" as const, value: inputUri } }),
    ...(parentNodeId !== "" && { parentNodeMetadata: { nodeId: parentNodeId } }),
  };
  const begun = closure.createdAt ?? closure.startedAt ?? closure.updatedAt;
  const events = [create(NodeExecutionEventSchema, { ...base, phase: NodePhase.QUEUED, ...(begun && { occurredAt: begun }) })];
  const started = closure.startedAt;
  if (started !== undefined) events.push(create(NodeExecutionEventSchema, { ...base, phase: NodePhase.RUNNING, occurredAt: started }));
  if (!isTerminalNodeEvent(closure.phase)) return events;
  const { outputResult } = closure;
  const reportedAt = closure.updatedAt;
  events.push(
    create(NodeExecutionEventSchema, {
      ...base,
      phase: closure.phase,
      occurredAt: timestampOf(endOf(closure)),
      ...(reportedAt && { reportedAt }),
      deckUri: closure.deckUri,
      ...(outputResult.case === "outputUri" && { outputResult }),
      ...(outputResult.case === "error" && { outputResult }),
      ...targetOf(closure.targetMetadata),
    }),
  );
  return events;
}

function targetOf(target: NonNullable<NodeExecution["closure"]>["targetMetadata"]) {
  switch (target.case) {
    case "workflowNodeMetadata": {
      const { executionId } = target.value;
      return { targetMetadata: { case: target.case, value: executionId === undefined ? {} : { executionId } } };
    }
    case "taskNodeMetadata": {
      const { cacheStatus, catalogKey, checkpointUri } = target.value;
      return { targetMetadata: { case: target.case, value: { cacheStatus, checkpointUri, ...(catalogKey && { catalogKey }) } } };
    }
    default:
      return {};
  }
}

/** Returns the events of an attempt in order. The last one has all data besides the phases. */
export function taskEvents({ attempt }: ImportedAttempt): TaskExecutionEvent[] {
  if (attempt?.id?.nodeExecutionId === undefined || attempt.closure === undefined) return [];
  const { id, closure, inputUri } = attempt;
  const base = {
    ...(id.taskId && { taskId: id.taskId }),
    ...(id.nodeExecutionId && { parentNodeExecutionId: id.nodeExecutionId }),
    retryAttempt: id.retryAttempt,
    taskType: closure.taskType,
    eventVersion: closure.eventVersion,
    ...(inputUri !== "" && { inputValue: { case: "inputUri" as const, value: inputUri } }),
  };
  const begun = closure.createdAt ?? closure.startedAt ?? closure.updatedAt;
  const events = [create(TaskExecutionEventSchema, { ...base, phase: TaskPhase.QUEUED, ...(begun && { occurredAt: begun }) })];
  const started = closure.startedAt;
  if (started !== undefined) events.push(create(TaskExecutionEventSchema, { ...base, phase: TaskPhase.RUNNING, occurredAt: started }));
  const { outputResult } = closure;
  const reportedAt = closure.updatedAt;
  const ends = isTerminalTaskEvent(closure.phase);
  events.push(
    create(TaskExecutionEventSchema, {
      ...base,
      phase: closure.phase,
      occurredAt: ends ? timestampOf(endOf(closure)) : (reportedAt ?? timestampOf(endOf(closure))),
      ...(reportedAt && { reportedAt }),
      logs: closure.logs,
      reasons: closure.reasons.map(({ message, occurredAt }) => ({ reason: message, ...(occurredAt && { occurredAt }) })),
      ...(closure.customInfo && { customInfo: closure.customInfo }),
      ...(closure.metadata && { metadata: closure.metadata }),
      ...(closure.logContext && { logContext: closure.logContext }),
      ...(outputResult.case === "outputUri" && { outputResult }),
      ...(outputResult.case === "error" && { outputResult }),
    }),
  );
  return events;
}
