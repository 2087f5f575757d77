import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type ExternalResourceInfo, TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { type ExecutionEvent, ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { outputResult } from "./output-result.js";

/** Version of task events in which arrays report each item. */
const TASK_EVENT_VERSION = 1;

export interface ArrayEventFacts {
  readonly executionId: WorkflowExecutionIdentifier;
  readonly producerId: string;
  /** Unique id of the array node. */
  readonly nodeId: string;
  /** Attempt of the array node itself; items have their own. */
  readonly attempt: number;
  readonly taskId: Identifier | undefined;
  readonly phase: TaskExecution_Phase;
  readonly phaseVersion: number;
  readonly resources: readonly ExternalResourceInfo[];
  /** ms. */
  readonly now: number;
  readonly sequence: bigint;
  readonly inputUri?: string | undefined;
  readonly outputUri?: string | undefined;
  readonly error?: ExecutionErrorJson | undefined;
  /** Inputs by value; absent when a file in the blob store holds them. */
  readonly inputs?: LiteralMap | undefined;
  readonly outputs?: LiteralMap | undefined;
}

/**
 * Event of an array node's single task execution, for admin (fields as recorded from Go Flyte
 * 1.16).
 */
export function arrayEvent(facts: ArrayEventFacts): ExecutionEvent {
  const { now, inputUri } = facts;
  return create(ExecutionEventSchema, {
    event: {
      case: "task",
      value: create(TaskExecutionEventSchema, {
        taskId: facts.taskId,
        parentNodeExecutionId: { nodeId: facts.nodeId, executionId: facts.executionId },
        retryAttempt: facts.attempt,
        phase: facts.phase,
        phaseVersion: facts.phaseVersion,
        producerId: facts.producerId,
        occurredAt: timestampFromMs(now),
        reportedAt: timestampFromMs(now),
        inputValue: inputUri === undefined ? { case: undefined } : { case: "inputUri", value: inputUri },
        outputResult: outputResult(facts),
        taskType: "container_array",
        metadata: { pluginIdentifier: "k8s-array", externalResources: [...facts.resources] },
        eventVersion: TASK_EVENT_VERSION,
      }),
    },
    inputs: facts.inputs,
    outputs: facts.outputs,
    sequence: facts.sequence,
  });
}
