import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type ExecutionEvent, ExecutionEventSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { boundMessage, MAX_STATUS_MESSAGE } from "../failure/bound-message.js";

export interface NoticeFacts {
  readonly executionId: WorkflowExecutionIdentifier;
  /** What the execution waits for; empty when nothing is in its way any more. */
  readonly reason: string;
  /** ms. */
  readonly now: number;
  readonly sequence: bigint;
}

/** What keeps an execution from going on, for admin to show. */
export function noticeEvent({ executionId, reason, now, sequence }: NoticeFacts): ExecutionEvent {
  return create(ExecutionEventSchema, {
    event: {
      case: "notice",
      value: { executionId, reason: boundMessage(reason, MAX_STATUS_MESSAGE), occurredAt: timestampFromMs(now) },
    },
    sequence,
  });
}
