import type { WorkflowPhase } from "@flyte-ts/domain/phase";
import type { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { attemptEvent, type AttemptEventFacts } from "./attempt-event.js";
import { EventSequence } from "./sequence.js";
import { arrayEvent, type ArrayEventFacts } from "./array-event.js";
import { nodeEvent, type NodeEventDetails } from "./node-event.js";
import { blockerEvent } from "./blocker-event.js";
import { workflowEvent, type WorkflowEventFacts } from "./workflow-event.js";
import { generatedNameOf } from "../messages/task-request.js";
import { childExecutionId } from "../messages/child-execution.js";
import { recordItemPhase, recordAttemptPhase, reportingArrayOf } from "./item-events.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { EffectTiming, RunState } from "../state/run-state.js";

/** Builds and emits the events of one run, numbered in order. */
export class EventPublisher {
  readonly #sequence = new EventSequence();

  constructor(private readonly state: RunState) {}

  node(node: RuntimeNode, phase: NodeExecution_Phase, details: NodeEventDetails, timing: EffectTiming): void {
    if (reportingArrayOf(node) !== undefined) {
      recordItemPhase(this.state, node, phase, node.cache?.status);
      return;
    }
    const event = nodeEvent({
      node,
      phase,
      details:
        node.hasChildExecution && details.childExecution === undefined
          ? { ...details, childExecution: childExecutionId(this.state.model, node) }
          : details,
      executionId: this.state.model.executionId,
      producerId: this.state.config.producerId,
      now: this.state.now,
      sequence: this.#sequence.next(this.state.now),
      targetEntity: this.state.templateOf(node)?.id,
    });
    this.state.emit({ kind: "publish", event }, timing);
  }

  /** Publishes an event of the node's attempt on the plugin service's behalf. */
  attempt(node: RuntimeNode, facts: Pick<AttemptEventFacts, "phase" | "phaseVersion" | "reason" | "error">, timing: EffectTiming): void {
    const template = this.state.templateOf(node);
    if (template === undefined) return;
    if (reportingArrayOf(node) !== undefined) {
      recordAttemptPhase(this.state, node, facts.phase);
      return;
    }
    const event = attemptEvent({
      ...facts,
      node,
      template,
      generatedName: generatedNameOf(this.state.model, node, node.attempt),
      executionId: this.state.model.executionId,
      producerId: this.state.config.producerId,
      now: this.state.now,
      sequence: this.#sequence.next(this.state.now),
    });
    this.state.emit({ kind: "publish", event }, timing);
  }

  /** Always held: the event's version is in the status. */
  array(facts: Omit<ArrayEventFacts, "executionId" | "producerId" | "now" | "sequence">): void {
    const event = arrayEvent({
      ...facts,
      executionId: this.state.model.executionId,
      producerId: this.state.config.producerId,
      now: this.state.now,
      sequence: this.#sequence.next(this.state.now),
    });
    this.state.emit({ kind: "publish", event }, "afterWrite");
  }

  /** Always held: the last published reason is in the status. */
  blocker(reason: string): void {
    const event = blockerEvent({
      executionId: this.state.model.executionId,
      reason,
      now: this.state.now,
      sequence: this.#sequence.next(this.state.now),
    });
    this.state.emit({ kind: "publish", event }, "afterWrite");
  }

  workflow(
    phase: WorkflowPhase,
    facts: Pick<WorkflowEventFacts, "occurredAt" | "error" | "outputUri" | "outputs" | "endedNodes">,
    timing: EffectTiming,
  ): void {
    const event = workflowEvent({
      ...facts,
      phase,
      executionId: this.state.model.executionId,
      producerId: this.state.config.producerId,
      sequence: this.#sequence.next(this.state.now),
    });
    this.state.emit({ kind: "publish", event }, timing);
  }
}
