import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { noticeEvent } from "../engine/event/notice-event.js";
import { EventSequence } from "../engine/event/sequence.js";
import { executionIdOf } from "./give-up.js";

/** What keeps a workflow from being taken up, for its owner; empty when nothing does any more. Undefined when nobody knows whose it is. */
export function shellNotice(meta: KubeObject["metadata"], reason: string, now: number): ExecutionEvent | undefined {
  const executionId = executionIdOf(meta);
  return executionId && noticeEvent({ executionId, reason, now, sequence: new EventSequence().next(now) });
}
