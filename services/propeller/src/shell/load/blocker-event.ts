import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { blockerEvent } from "../../engine/events/blocker-event.js";
import { EventSequence } from "../../engine/time/event-sequence.js";
import { executionIdOf } from "./execution-id.js";

/**
 * Builds the event that shows the owner why a workflow cannot be loaded; an empty reason shows that
 * it can again. Undefined when the labels do not name an execution of the workflow's own namespace.
 */
export function loadBlockerEvent(
  meta: KubeObject["metadata"],
  { namespaceTemplate, reason, now }: { readonly namespaceTemplate: string; readonly reason: string; readonly now: number },
): ExecutionEvent | undefined {
  const executionId = executionIdOf(meta, namespaceTemplate);
  return executionId && blockerEvent({ executionId, reason, now, sequence: new EventSequence().next(now) });
}
