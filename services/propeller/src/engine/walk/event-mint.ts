import type { WorkflowPhase } from "@flyte-ts/domain";
import type { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { attemptEvent, type AttemptEventFacts } from "../event/attempt-event.js";
import { EventSequence } from "../event/sequence.js";
import { arrayEvent, type ArrayEventFacts } from "../event/array-event.js";
import { nodeEvent, type NodeEventDetails } from "../event/node-event.js";
import { noticeEvent } from "../event/notice-event.js";
import { workflowEvent, type WorkflowEventFacts } from "../event/workflow-event.js";
import { generatedNameOf } from "../request/task-request.js";
import { childExecutionId } from "../request/child-execution.js";
import { noteItem, noteItemPhase, tellerOf } from "./array-news.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { Release, Walk } from "./walk.js";

/** Builds and emits the events of one run, numbered in order. */
export class EventMint {
  readonly #sequence = new EventSequence();

  constructor(private readonly walk: Walk) {}

  node(node: RuntimeNode, phase: NodeExecution_Phase, details: NodeEventDetails, release: Release): void {
    if (tellerOf(node) !== undefined) {
      noteItem(this.walk, node, phase, node.cache?.status);
      return;
    }
    const event = nodeEvent({
      node,
      phase,
      details:
        node.launched && details.childExecution === undefined
          ? { ...details, childExecution: childExecutionId(this.walk.model, node) }
          : details,
      executionId: this.walk.model.executionId,
      producerId: this.walk.config.producerId,
      now: this.walk.now,
      sequence: this.#sequence.next(this.walk.now),
      targetEntity: this.walk.templateOf(node)?.id,
    });
    this.walk.emit({ kind: "publish", event }, release);
  }

  /** Publishes an event of the node's attempt on the plugin service's behalf. */
  attempt(node: RuntimeNode, facts: Pick<AttemptEventFacts, "phase" | "phaseVersion" | "reason" | "error">, release: Release): void {
    const template = this.walk.templateOf(node);
    if (template === undefined) return;
    if (tellerOf(node) !== undefined) {
      noteItemPhase(this.walk, node, facts.phase);
      return;
    }
    const event = attemptEvent({
      ...facts,
      node,
      template,
      generatedName: generatedNameOf(this.walk.model, node, node.attempt),
      executionId: this.walk.model.executionId,
      producerId: this.walk.config.producerId,
      now: this.walk.now,
      sequence: this.#sequence.next(this.walk.now),
    });
    this.walk.emit({ kind: "publish", event }, release);
  }

  /** Always held: the event's version is in the status. */
  array(facts: Omit<ArrayEventFacts, "executionId" | "producerId" | "now" | "sequence">): void {
    const event = arrayEvent({
      ...facts,
      executionId: this.walk.model.executionId,
      producerId: this.walk.config.producerId,
      now: this.walk.now,
      sequence: this.#sequence.next(this.walk.now),
    });
    this.walk.emit({ kind: "publish", event }, "held");
  }

  /** Always held: the last published reason is in the status. */
  notice(reason: string): void {
    const event = noticeEvent({
      executionId: this.walk.model.executionId,
      reason,
      now: this.walk.now,
      sequence: this.#sequence.next(this.walk.now),
    });
    this.walk.emit({ kind: "publish", event }, "held");
  }

  workflow(
    phase: WorkflowPhase,
    facts: Pick<WorkflowEventFacts, "occurredAt" | "error" | "outputUri" | "outputs" | "endedNodes">,
    release: Release,
  ): void {
    const event = workflowEvent({
      ...facts,
      phase,
      executionId: this.walk.model.executionId,
      producerId: this.walk.config.producerId,
      sequence: this.#sequence.next(this.walk.now),
    });
    this.walk.emit({ kind: "publish", event }, release);
  }
}
