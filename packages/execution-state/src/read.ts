import { clone, toBinary } from "@bufbuild/protobuf";
import { encodeMessage } from "@flyte-ts/domain";
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
import { errorFact } from "./error-fact.js";
import type { NodeFact, NodeTargetFact, NoticeFact, TaskFact, WorkflowFact } from "./facts.js";
import { executionTarget, taskTarget } from "./node-target.js";
import { isSet, isTime, nanosOf } from "./time.js";

/** The event can never be recorded; permanent. */
export class BadEvent extends Error {
  override readonly name = "BadEvent";
}

/** Values sent beside an event. */
export interface ValuesBeside {
  readonly inputs?: LiteralMap | undefined;
  readonly outputs?: LiteralMap | undefined;
  /** URI of the compiled workflow of a dynamic node. */
  readonly dynamicWorkflowUri?: string | undefined;
}

/** URIs of values that came within an event and that the database stores. */
export interface OffloadNames {
  inputs(...parts: readonly string[]): string;
  outputs(...parts: readonly string[]): string;
}

/** @throws BadEvent without a valid occurred_at. */
export function readWorkflowEvent(event: WorkflowExecutionEvent, beside: ValuesBeside, names: OffloadNames): WorkflowFact {
  const { outputResult, executionId: id } = event;
  return {
    phase: event.phase,
    occurredAt: occurred(event),
    outputUri:
      outputResult.case === "outputUri"
        ? outputResult.value
        : outputResult.case === "outputData"
          ? names.outputs(id?.project ?? "", id?.domain ?? "", id?.name ?? "")
          : undefined,
    outputs: encoded(outputResult.case === "outputData" ? outputResult.value : beside.outputs),
    error: outputResult.case === "error" ? errorFact(outputResult.value) : undefined,
  };
}

/** @throws BadEvent without a valid occurred_at. */
export function readNotice(notice: ExecutionNotice): NoticeFact {
  return { reason: text(notice.reason), occurredAt: occurred(notice) };
}

/** @throws BadEvent without a valid occurred_at. */
export function readNodeEvent(event: NodeExecutionEvent, beside: ValuesBeside, names: OffloadNames): NodeFact {
  const { inputValue, outputResult, id } = event;
  const parts = [id?.executionId?.project ?? "", id?.executionId?.domain ?? "", id?.executionId?.name ?? "", id?.nodeId ?? ""];
  const occurredAt = occurred(event);
  const dynamic = event.targetMetadata.case === "taskNodeMetadata" ? event.targetMetadata.value.dynamicWorkflow : undefined;
  const parentTask = event.parentTaskMetadata?.id;
  return {
    phase: event.phase,
    occurredAt,
    reportedAt: isSet(event.reportedAt) && isTime(event.reportedAt) ? nanosOf(event.reportedAt) : occurredAt,
    inputUri: inputValue.case === "inputUri" ? text(inputValue.value) : inputValue.case === "inputData" ? names.inputs(...parts) : "",
    inputs: encoded(inputValue.case === "inputData" ? inputValue.value : beside.inputs),
    outputUri:
      outputResult.case === "outputUri"
        ? text(outputResult.value)
        : outputResult.case === "outputData"
          ? names.outputs(...parts)
          : undefined,
    outputs: encoded(outputResult.case === "outputData" ? outputResult.value : beside.outputs),
    error: outputResult.case === "error" ? errorFact(outputResult.value) : undefined,
    deckUri: text(event.deckUri),
    target: targetFact(event.targetMetadata),
    dynamicJobSpecUri: text(dynamic?.dynamicJobSpecUri ?? ""),
    dynamicWorkflowUri: text(beside.dynamicWorkflowUri ?? ""),
    dynamicWorkflow: dynamic?.compiledWorkflow && toBinary(CompiledWorkflowClosureSchema, dynamic.compiledWorkflow),
    parentNodeId: event.parentNodeMetadata?.nodeId,
    parentTaskKey: parentTask && taskKey(parentTask),
    retryGroup: text(event.retryGroup),
    specNodeId: text(event.specNodeId),
    eventVersion: event.eventVersion,
    isParent: event.isParent,
    isDynamic: event.isDynamic,
    isArray: event.isArray,
  };
}

/** @throws BadEvent without a valid occurred_at. */
export function readTaskEvent(event: TaskExecutionEvent, beside: ValuesBeside, names: OffloadNames): TaskFact {
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
  const occurredAt = occurred(event);
  const { inputValue, outputResult } = event;
  const kept = withoutValues(event, parts, names);
  return {
    phase: event.phase,
    phaseVersion: event.phaseVersion,
    occurredAt,
    reportedAt: isSet(event.reportedAt) && isTime(event.reportedAt) ? nanosOf(event.reportedAt) : occurredAt,
    inputUri: kept.inputValue.case === "inputUri" ? text(kept.inputValue.value) : "",
    inputs: encoded(inputValue.case === "inputData" ? inputValue.value : beside.inputs),
    outputUri: kept.outputResult.case === "outputUri" ? text(kept.outputResult.value) : undefined,
    outputs: encoded(outputResult.case === "outputData" ? outputResult.value : beside.outputs),
    event: encodeMessage(TaskExecutionEventSchema, kept),
  };
}

function withoutValues(event: TaskExecutionEvent, parts: readonly string[], names: OffloadNames): TaskExecutionEvent {
  if (event.inputValue.case !== "inputData" && event.outputResult.case !== "outputData") return event;
  const kept = clone(TaskExecutionEventSchema, event);
  if (kept.inputValue.case === "inputData") kept.inputValue = { case: "inputUri", value: names.inputs(...parts) };
  if (kept.outputResult.case === "outputData") kept.outputResult = { case: "outputUri", value: names.outputs(...parts) };
  return kept;
}

function targetFact(target: NodeExecutionEvent["targetMetadata"]): NodeTargetFact | undefined {
  if (target.case === "workflowNodeMetadata") return executionTarget(target.value.executionId);
  if (target.case !== "taskNodeMetadata") return undefined;
  return taskTarget(target.value);
}

function encoded(values: LiteralMap | undefined): Uint8Array | undefined {
  return values && encodeMessage(LiteralMapSchema, values);
}

function occurred(event: { readonly occurredAt?: Parameters<typeof nanosOf>[0] }): bigint {
  const { occurredAt } = event;
  if (occurredAt === undefined) throw new BadEvent("missing occurred_at");
  if (!isTime(occurredAt)) throw new BadEvent("invalid occurred_at: it must lie between the years 1 and 9999");
  return nanosOf(occurredAt);
}

/** PostgreSQL's text holds no NUL. */
function text(value: string): string {
  return value.includes("\0") ? value.replaceAll("\0", "") : value;
}
