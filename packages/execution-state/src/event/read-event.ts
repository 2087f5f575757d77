import { clone, toBinary } from "@bufbuild/protobuf";
import { encodeMessage } from "@flyte-ts/proto-codec";
import { isTime } from "@flyte-ts/domain/timestamp";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  type NodeExecutionEvent,
  type TaskExecutionEvent,
  TaskExecutionEventSchema,
  type WorkflowExecutionEvent,
} from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { ExecutionNotice } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { taskKey } from "./task-key.js";
import { errorColumns } from "./error-columns.js";
import type { NodeUpdate, NodeTarget, BlockerUpdate, TaskUpdate, WorkflowUpdate } from "./updates.js";
import { executionTarget, taskTarget } from "./node-target.js";
import { isSet, nanosOf } from "./time.js";

/** The event can never be recorded; permanent. */
export class InvalidEventError extends Error {
  override readonly name = "InvalidEventError";
}

/** Values sent beside an event. */
export interface AttachedValues {
  readonly inputs?: LiteralMap | undefined;
  readonly outputs?: LiteralMap | undefined;
  /** URI of the compiled workflow of a dynamic node. */
  readonly dynamicWorkflowUri?: string | undefined;
}

/** URIs of values that came within an event and that the database stores. */
export interface OffloadUris {
  inputs(...parts: readonly string[]): string;
  outputs(...parts: readonly string[]): string;
}

/** @throws InvalidEventError without a valid occurred_at. */
export function readWorkflowEvent(event: WorkflowExecutionEvent, attached: AttachedValues, uris: OffloadUris): WorkflowUpdate {
  const { outputResult, executionId: id } = event;
  return {
    phase: event.phase,
    occurredAt: occurredAtNanos(event),
    outputUri:
      outputResult.case === "outputUri"
        ? outputResult.value
        : outputResult.case === "outputData"
          ? uris.outputs(id?.project ?? "", id?.domain ?? "", id?.name ?? "")
          : undefined,
    outputs: encodeValues(outputResult.case === "outputData" ? outputResult.value : attached.outputs),
    error: outputResult.case === "error" ? errorColumns(outputResult.value) : undefined,
  };
}

/** @throws InvalidEventError without a valid occurred_at. */
export function readBlocker(blocker: ExecutionNotice): BlockerUpdate {
  return { reason: withoutNul(blocker.reason), occurredAt: occurredAtNanos(blocker) };
}

/** @throws InvalidEventError without a valid occurred_at. */
export function readNodeEvent(event: NodeExecutionEvent, attached: AttachedValues, uris: OffloadUris): NodeUpdate {
  const { inputValue, outputResult, id } = event;
  const parts = [id?.executionId?.project ?? "", id?.executionId?.domain ?? "", id?.executionId?.name ?? "", id?.nodeId ?? ""];
  const occurredAt = occurredAtNanos(event);
  const dynamic = event.targetMetadata.case === "taskNodeMetadata" ? event.targetMetadata.value.dynamicWorkflow : undefined;
  const parentTask = event.parentTaskMetadata?.id;
  return {
    phase: event.phase,
    occurredAt,
    reportedAt: isSet(event.reportedAt) && isTime(event.reportedAt) ? nanosOf(event.reportedAt) : occurredAt,
    inputUri: inputValue.case === "inputUri" ? withoutNul(inputValue.value) : inputValue.case === "inputData" ? uris.inputs(...parts) : "",
    inputs: encodeValues(inputValue.case === "inputData" ? inputValue.value : attached.inputs),
    outputUri:
      outputResult.case === "outputUri"
        ? withoutNul(outputResult.value)
        : outputResult.case === "outputData"
          ? uris.outputs(...parts)
          : undefined,
    outputs: encodeValues(outputResult.case === "outputData" ? outputResult.value : attached.outputs),
    error: outputResult.case === "error" ? errorColumns(outputResult.value) : undefined,
    deckUri: withoutNul(event.deckUri),
    target: nodeTarget(event.targetMetadata),
    dynamicJobSpecUri: withoutNul(dynamic?.dynamicJobSpecUri ?? ""),
    dynamicWorkflowUri: withoutNul(attached.dynamicWorkflowUri ?? ""),
    dynamicWorkflow: dynamic?.compiledWorkflow && toBinary(CompiledWorkflowClosureSchema, dynamic.compiledWorkflow),
    parentNodeId: event.parentNodeMetadata?.nodeId,
    parentTaskKey: parentTask && taskKey(parentTask),
    retryGroup: withoutNul(event.retryGroup),
    specNodeId: withoutNul(event.specNodeId),
    eventVersion: event.eventVersion,
    isParent: event.isParent,
    isDynamic: event.isDynamic,
    isArray: event.isArray,
  };
}

/** @throws InvalidEventError without a valid occurred_at. */
export function readTaskEvent(event: TaskExecutionEvent, attached: AttachedValues, uris: OffloadUris): TaskUpdate {
  const node = event.parentNodeExecutionId;
  const execution = node?.executionId;
  const task = event.taskId;
  const parts = [
    execution?.project ?? "",
    execution?.domain ?? "",
    execution?.name ?? "",
    node?.nodeId ?? "",
    task?.project ?? "",
    task?.domain ?? "",
    task?.name ?? "",
    task?.version ?? "",
    String(event.retryAttempt),
  ];
  const occurredAt = occurredAtNanos(event);
  const { inputValue, outputResult } = event;
  const stripped = withoutValues(event, parts, uris);
  return {
    phase: event.phase,
    phaseVersion: event.phaseVersion,
    occurredAt,
    reportedAt: isSet(event.reportedAt) && isTime(event.reportedAt) ? nanosOf(event.reportedAt) : occurredAt,
    inputUri: stripped.inputValue.case === "inputUri" ? withoutNul(stripped.inputValue.value) : "",
    inputs: encodeValues(inputValue.case === "inputData" ? inputValue.value : attached.inputs),
    outputUri: stripped.outputResult.case === "outputUri" ? withoutNul(stripped.outputResult.value) : undefined,
    outputs: encodeValues(outputResult.case === "outputData" ? outputResult.value : attached.outputs),
    event: encodeMessage(TaskExecutionEventSchema, stripped),
  };
}

function withoutValues(event: TaskExecutionEvent, parts: readonly string[], uris: OffloadUris): TaskExecutionEvent {
  if (event.inputValue.case !== "inputData" && event.outputResult.case !== "outputData") return event;
  const stripped = clone(TaskExecutionEventSchema, event);
  if (stripped.inputValue.case === "inputData") stripped.inputValue = { case: "inputUri", value: uris.inputs(...parts) };
  if (stripped.outputResult.case === "outputData") stripped.outputResult = { case: "outputUri", value: uris.outputs(...parts) };
  return stripped;
}

function nodeTarget(target: NodeExecutionEvent["targetMetadata"]): NodeTarget | undefined {
  if (target.case === "workflowNodeMetadata") return executionTarget(target.value.executionId);
  if (target.case !== "taskNodeMetadata") return undefined;
  return taskTarget(target.value);
}

function encodeValues(values: LiteralMap | undefined): Uint8Array | undefined {
  return values && encodeMessage(LiteralMapSchema, values);
}

function occurredAtNanos(event: { readonly occurredAt?: Parameters<typeof nanosOf>[0] }): bigint {
  const { occurredAt } = event;
  if (occurredAt === undefined) throw new InvalidEventError("missing occurred_at");
  if (!isTime(occurredAt)) throw new InvalidEventError("invalid occurred_at: it must lie between the years 1 and 9999");
  return nanosOf(occurredAt);
}

/** PostgreSQL's text holds no NUL. */
function withoutNul(value: string): string {
  return value.includes("\0") ? value.replaceAll("\0", "") : value;
}
