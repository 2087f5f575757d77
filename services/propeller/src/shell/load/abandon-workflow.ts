import { WorkflowPhase } from "@flyte-ts/domain/phase";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { terminatedLabels } from "@flyte-ts/workflow-crd";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { EventSequence } from "../../engine/time/event-sequence.js";
import { workflowEvent } from "../../engine/events/workflow-event.js";
import { boundMessage, MAX_STATUS_MESSAGE } from "../../engine/errors/bound-message.js";
import { executionIdOf } from "./execution-id.js";

export interface AbandonPatch {
  /** Merge patch that ends the resource. */
  readonly body: { readonly metadata: object; readonly status: object };
  /**
   * Terminal event for admin; undefined when the labels do not name an execution of the resource's
   * own namespace.
   */
  readonly event: ExecutionEvent | undefined;
}

export interface AbandonInput {
  readonly meta: KubeObject["metadata"];
  /** Template of the namespace of a project and domain. */
  readonly namespaceTemplate: string;
  /** Version of the invalid resource. */
  readonly resourceVersion: string;
  readonly producerId: string;
  readonly code: string;
  /** Party at fault. Default `SYSTEM`. */
  readonly errorKind?: "USER" | "SYSTEM" | undefined;
  readonly message: string;
  /** ms. */
  readonly now: number;
}

/**
 * Ends a workflow that no engine can run. Its labels identify the execution, since the rest may be
 * unreadable. If the event is lost, admin reads the end from the resource.
 */
export function buildAbandonPatch({
  meta,
  namespaceTemplate,
  resourceVersion,
  producerId,
  code,
  errorKind = "SYSTEM",
  message,
  now,
}: AbandonInput): AbandonPatch {
  const error: ExecutionErrorJson = { code, message: boundMessage(message), kind: errorKind };
  const body = {
    metadata: { labels: terminatedLabels(new Date(now)), finalizers: null, resourceVersion },
    status: {
      phase: WorkflowPhase.Failed,
      stoppedAt: new Date(now).toISOString(),
      message: boundMessage(message, MAX_STATUS_MESSAGE),
      error,
    },
  };
  const executionId = executionIdOf(meta, namespaceTemplate);
  if (executionId === undefined) return { body, event: undefined };
  const event = workflowEvent({
    executionId,
    producerId,
    phase: WorkflowPhase.Failed,
    occurredAt: now,
    sequence: new EventSequence().next(now),
    error,
  });
  return { body, event };
}
