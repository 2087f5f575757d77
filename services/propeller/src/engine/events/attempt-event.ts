import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { type ExecutionEvent, ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { inputsUri } from "../graph/paths.js";
import { outputResult } from "./output-result.js";
import type { RuntimeNode } from "../graph/runtime.js";

/** Version of task events in which map tasks report each element. */
const EVENT_VERSION = 1;

export interface AttemptEventFacts {
  readonly node: RuntimeNode;
  readonly executionId: WorkflowExecutionIdentifier;
  readonly producerId: string;
  readonly template: TaskTemplate;
  readonly generatedName: string;
  readonly phase: TaskExecution_Phase;
  readonly phaseVersion: number;
  readonly reason: string;
  readonly error?: ExecutionErrorJson | undefined;
  /** ms. */
  readonly now: number;
  readonly sequence: bigint;
}

/** Status of an attempt on which no plugin service reports, for admin. */
export function attemptEvent(facts: AttemptEventFacts): ExecutionEvent {
  const { node, template, reason } = facts;
  const occurredAt = timestampFromMs(facts.now);
  return create(ExecutionEventSchema, {
    event: {
      case: "task",
      value: create(TaskExecutionEventSchema, {
        taskId: template.id,
        parentNodeExecutionId: { nodeId: node.uniqueId, executionId: facts.executionId },
        retryAttempt: node.attempt,
        phase: facts.phase,
        phaseVersion: facts.phaseVersion,
        producerId: facts.producerId,
        occurredAt,
        reportedAt: occurredAt,
        inputValue: { case: "inputUri", value: inputsUri(node.dataDir) },
        outputResult: outputResult(facts),
        reason,
        reasons: [{ reason, occurredAt }],
        taskType: template.type,
        metadata: { generatedName: facts.generatedName },
        eventVersion: EVENT_VERSION,
      }),
    },
    sequence: facts.sequence,
  });
}
