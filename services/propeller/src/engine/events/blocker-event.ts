import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type ExecutionEvent, ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { boundMessage, MAX_STATUS_MESSAGE } from "../errors/bound-message.js";

export interface BlockerEventFacts {
  readonly executionId: WorkflowExecutionIdentifier;
  /** Reason why the execution is blocked; empty when it no longer is. */
  readonly reason: string;
  /** ms. */
  readonly now: number;
  readonly sequence: bigint;
}

/** Event that shows in admin why an execution makes no progress. */
export function blockerEvent({ executionId, reason, now, sequence }: BlockerEventFacts): ExecutionEvent {
  return create(ExecutionEventSchema, {
    event: {
      case: "notice",
      value: { executionId, reason: boundMessage(reason, MAX_STATUS_MESSAGE), occurredAt: timestampFromMs(now) },
    },
    sequence,
  });
}
