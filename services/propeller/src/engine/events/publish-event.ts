import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { WorkflowPhase } from "@flyte-ts/domain/phase";
import type { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { attemptEvent, type AttemptEventFacts } from "./attempt-event.js";
import { arrayEvent, type ArrayEventFacts } from "./array-event.js";
import { nodeEvent, type NodeEventDetails } from "./node-event.js";
import { blockerEvent } from "./blocker-event.js";
import { workflowEvent, type WorkflowEventFacts } from "./workflow-event.js";
import { generatedNameOf } from "../messages/task-request.js";
import { childExecutionId } from "../messages/child-execution.js";
import { recordItemPhase, recordAttemptPhase, reportingArrayOf } from "./item-changes.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { EffectTiming } from "../state/effect-buffer.js";
import type { RunState } from "../state/run-state.js";

// Build and emit the events of one run, numbered in order.

function publish(state: RunState, event: ExecutionEvent, timing: EffectTiming): void {
  const { acceptedAt } = state.model;
  if (acceptedAt !== undefined) event.acceptedAt = timestampFromDate(acceptedAt);
  state.effects.emit({ kind: "publish", event }, timing);
}

/** Publishes a phase of the node; an item of a map only records it for its array. */
export function publishNodeEvent(
  state: RunState,
  node: RuntimeNode,
  details: NodeEventDetails & { readonly phase: NodeExecution_Phase },
  timing: EffectTiming,
): void {
  if (reportingArrayOf(node) !== undefined) {
    recordItemPhase(state, node, details.phase, node.calls.cache?.status);
    return;
  }
  const event = nodeEvent({
    node,
    phase: details.phase,
    details:
      node.calls.hasChildExecution && details.childExecution === undefined
        ? { ...details, childExecution: childExecutionId(state.model, node) }
        : details,
    executionId: state.model.executionId,
    producerId: state.config.producerId,
    now: state.observation.now,
    sequence: state.publishing.nextSequence(state.observation.now),
    targetEntity: state.templateOf(node)?.id,
  });
  publish(state, event, timing);
}

/** Publishes an event of the node's attempt on the plugin service's behalf. */
export function publishAttemptEvent(
  state: RunState,
  node: RuntimeNode,
  facts: Pick<AttemptEventFacts, "phase" | "phaseVersion" | "reason" | "error">,
  timing: EffectTiming,
): void {
  const template = state.templateOf(node);
  if (template === undefined) return;
  if (reportingArrayOf(node) !== undefined) {
    recordAttemptPhase(state, node, facts.phase);
    return;
  }
  const event = attemptEvent({
    ...facts,
    node,
    template,
    generatedName: generatedNameOf(state.model, node, node.attempt),
    executionId: state.model.executionId,
    producerId: state.config.producerId,
    now: state.observation.now,
    sequence: state.publishing.nextSequence(state.observation.now),
  });
  publish(state, event, timing);
}

/**
 * Publishes an event of an array's task execution after the status write, since the status holds
 * the event's version.
 */
export function publishArrayTaskEvent(
  state: RunState,
  facts: Omit<ArrayEventFacts, "executionId" | "producerId" | "now" | "sequence">,
): void {
  const event = arrayEvent({
    ...facts,
    executionId: state.model.executionId,
    producerId: state.config.producerId,
    now: state.observation.now,
    sequence: state.publishing.nextSequence(state.observation.now),
  });
  publish(state, event, "afterWrite");
}

/** Publishes a blocker after the status write, since the status holds the last published reason. */
export function publishBlockerEvent(state: RunState, reason: string): void {
  const event = blockerEvent({
    executionId: state.model.executionId,
    reason,
    now: state.observation.now,
    sequence: state.publishing.nextSequence(state.observation.now),
  });
  publish(state, event, "afterWrite");
}

export function publishWorkflowEvent(
  state: RunState,
  phase: WorkflowPhase,
  facts: Pick<WorkflowEventFacts, "occurredAt" | "error" | "outputUri" | "outputs" | "endedNodes">,
  timing: EffectTiming,
): void {
  const event = workflowEvent({
    ...facts,
    phase,
    executionId: state.model.executionId,
    producerId: state.config.producerId,
    sequence: state.publishing.nextSequence(state.observation.now),
  });
  publish(state, event, timing);
}
