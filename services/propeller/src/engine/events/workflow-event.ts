import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { workflowEventPhase, type WorkflowPhase } from "@flyte-ts/domain/phase";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { WorkflowExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { type ExecutionEvent, ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { outputResult } from "./output-result.js";

export interface WorkflowEventFacts {
  readonly executionId: WorkflowExecutionIdentifier;
  readonly producerId: string;
  readonly phase: WorkflowPhase;
  /** ms. */
  readonly occurredAt: number;
  readonly sequence: bigint;
  readonly error?: ExecutionErrorJson | undefined;
  readonly outputUri?: string | undefined;
  /** Outputs by value; absent when a file at `outputUri` holds them. */
  readonly outputs?: LiteralMap | undefined;
  /** With a terminal phase: number of nodes whose ends were published. */
  readonly endedNodes?: number | undefined;
}

/** Event of the workflow's own phase change, for admin. */
export function workflowEvent(facts: WorkflowEventFacts): ExecutionEvent {
  return create(ExecutionEventSchema, {
    event: {
      case: "workflow",
      value: create(WorkflowExecutionEventSchema, {
        executionId: facts.executionId,
        producerId: facts.producerId,
        phase: workflowEventPhase(facts.phase),
        occurredAt: timestampFromMs(facts.occurredAt),
        outputResult: outputResult(facts),
      }),
    },
    outputs: facts.outputs,
    ...(facts.endedNodes === undefined ? {} : { endedNodes: facts.endedNodes }),
    sequence: facts.sequence,
  });
}
