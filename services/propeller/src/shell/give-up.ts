import { create } from "@bufbuild/protobuf";
import { WorkflowPhase } from "@flyte-ts/domain";
import { type WorkflowExecutionIdentifier, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { DOMAIN_LABEL, EXECUTION_ID_LABEL, type ExecutionErrorJson, PROJECT_LABEL, terminatedLabels } from "@flyte-ts/workflow-crd";
import { EventSequence } from "../engine/event/sequence.js";
import { workflowEvent } from "../engine/event/workflow-event.js";
import { boundMessage, MAX_STATUS_MESSAGE } from "../engine/failure/bound-message.js";

export interface GivenUp {
  /** Merge patch that ends the resource. */
  readonly body: { readonly metadata: object; readonly status: object };
  /** The end, for admin; undefined when the resource does not even say whose it is. */
  readonly event: ExecutionEvent | undefined;
}

export interface GiveUpFacts {
  readonly meta: KubeObject["metadata"];
  /** Of the resource that cannot be read. */
  readonly resourceVersion: string;
  readonly producerId: string;
  readonly code: string;
  /** Whose fault it is. Default `SYSTEM`. */
  readonly errorKind?: "USER" | "SYSTEM" | undefined;
  readonly message: string;
  /** ms. */
  readonly now: number;
}

/**
 * Ends a workflow that no engine can run. Whose it is follows from its labels, as the
 * rest may not be readable. Should the event be lost, admin takes the end from the resource.
 */
export function giveUp({ meta, resourceVersion, producerId, code, errorKind = "SYSTEM", message, now }: GiveUpFacts): GivenUp {
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
  const executionId = executionIdOf(meta);
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

/** Whose the resource is, by its labels. */
export function executionIdOf({ labels }: KubeObject["metadata"]): WorkflowExecutionIdentifier | undefined {
  const { [PROJECT_LABEL]: project, [DOMAIN_LABEL]: domain, [EXECUTION_ID_LABEL]: name } = labels ?? {};
  if (project === undefined || domain === undefined || name === undefined) return undefined;
  return create(WorkflowExecutionIdentifierSchema, { project, domain, name });
}
