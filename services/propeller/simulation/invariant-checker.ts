import { isTerminalTaskEvent, isTerminalWorkflow, NodePhase, workflowEventPhase } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { NodeExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { DesiredState, type TaskEvent } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ParsedWorkflow } from "@flyte-ts/workflow-crd";
import { type NodeStatus, sliceUri, type WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import type { Effect } from "../src/engine/types.js";
import { EndRepeatChecker } from "./repeated-ends.js";
import { MapOutputs, tooManyItems } from "./array-invariants.js";
import { SliceNotFound, withSlices } from "./fixtures/slices.js";
import { outputOf } from "./outcomes.js";
import { backwardSteps, type Invariant } from "./invariants.js";
import { ROOT, type World } from "./world.js";
import type { Admin } from "./services/admin.js";
import type { Cluster, Pod } from "./services/cluster.js";
import type { PluginService } from "./services/plugin-service.js";
import { isOver, type Resource, type ResourceStore } from "./world/resource-store.js";
import type { SliceStore } from "./world/slice-store.js";

/** Objects that an invariant checker observes. */
export interface ObservedSystem {
  readonly store: ResourceStore;
  readonly admin: Admin;
  readonly cluster: Cluster;
  readonly plugin: PluginService;
  readonly slices: SliceStore;
}

/** Monitors one execution and reports violated invariants. */
export class InvariantChecker {
  /** Last status of the resource, including its slices. */
  status: WorkflowStatus = { phase: 0 };
  readonly #zombies = new Set<string>();
  /** Attempts whose end was reported. */
  readonly #ended = new Set<string>();
  /** Newest requested attempt of each node. */
  readonly #asked = new Map<string, number>();
  /** Attempts whose abort was requested. */
  readonly #stopped = new Set<string>();
  readonly #terminalPhases = new Set<number>();
  readonly #maps = new MapOutputs();
  readonly #complete = new EndRepeatChecker();
  /** A status has shown it: the status of an ended graph no longer contains its nodes. */
  #armNeverRan = false;
  #parts: ObservedSystem | undefined;

  constructor(
    private readonly world: World,
    private readonly name: string,
    private readonly workflow: ParsedWorkflow,
  ) {}

  /** Sets the objects to check. */
  observe(parts: ObservedSystem): void {
    this.#parts = parts;
  }

  get root(): boolean {
    return this.name === ROOT;
  }

  get #seen(): ObservedSystem {
    if (this.#parts === undefined) throw new Error("nothing has been observed yet");
    return this.#parts;
  }

  /** Handles a plugin service's report on an attempt. */
  taskEvent({ event }: TaskEvent): void {
    if (isTerminalTaskEvent(event?.phase ?? 0)) this.#ended.add(event?.metadata?.generatedName ?? "");
  }

  changed(stored: WorkflowStatus | undefined): void {
    if (stored === undefined) return;
    const before = this.status;
    const after = this.#withSlices(stored);
    if (after === undefined) return;
    this.status = after;
    this.#armNeverRan ||= hasArmThatNeverRan(after.nodeStatus ?? {});
    this.note(() => `written ${JSON.stringify(after)}`);
    for (const text of backwardSteps(before, after)) this.violate("phasesForward", text);
    const { model } = this.workflow;
    for (const text of tooManyItems(after.nodeStatus ?? {}, model.root, model)) this.violate("arraysInBounds", text);
    if (!isTerminalWorkflow(after.phase) || isTerminalWorkflow(before.phase)) return;
    this.#complete.ended(after, this.world.blobs);
    for (const pod of this.#seen.cluster.running) {
      if (!this.#zombies.has(pod.key) && !this.#givenUp(pod))
        this.violate("noOrphans", `pod ${pod.key} runs while the workflow is in phase ${after.phase}`);
    }
    for (const child of this.world.service.childrenOf(this.name)) {
      if (!child.terminal) this.violate("noOrphans", `child ${child.name} runs while the workflow is in phase ${after.phase}`);
    }
  }

  /**
   * True when the abort request was unanswered and may have been abandoned: a process that learns
   * of the pod must stop it.
   */
  #givenUp({ key }: Pod): boolean {
    return this.world.announcements !== undefined && this.#stopped.has(key) && !this.#ended.has(key);
  }

  #withSlices(stored: WorkflowStatus): WorkflowStatus | undefined {
    try {
      return withSlices(stored, this.#seen.slices.blobs).status;
    } catch (error) {
      if (!(error instanceof SliceNotFound)) throw error;
      this.violate("slicesStand", `the resource names slice ${error.message}, which is not there`);
      return undefined;
    }
  }

  sliceRemoved(uri: string): void {
    const root = this.#seen.store.current?.status.slices;
    if (root !== undefined && Object.values(root.names).some((name) => sliceUri(root.prefix, name) === uri))
      this.violate("slicesStand", `slice ${uri} is removed while the resource names it`);
  }

  effect(effect: Effect): void {
    if (effect.kind === "readOutputs" || effect.kind === "writeOutputs") this.note(() => `${effect.kind} ${effect.uri}`);
    if (effect.kind === "sendTaskRequest") {
      const { request } = effect;
      const node = request.id?.nodeExecutionId?.nodeId ?? "";
      if (request.desired === DesiredState.RUN) this.#asked.set(node, Math.max(this.#asked.get(node) ?? 0, request.id?.retryAttempt ?? 0));
      if (request.desired !== DesiredState.RUN) this.#stopped.add(request.generatedName);
      if (request.desired === DesiredState.RUN) this.world.shared.takeRequest(this.name, request);
      this.note(() => `send ${request.nodePath}/${request.id?.retryAttempt ?? 0} ${request.desired}`);
    }
    if (effect.kind === "finalize" && !this.#seen.admin.terminal) this.violate("nothingLost", "finished before admin has the end");
    if (effect.kind !== "publish") return;
    this.#complete.take(effect.event);
    this.world.shared.takeEvent(effect.event, this.root);
    if (this.root) this.world.options.onEvent?.(effect.event, this.world.blobs);
    const { event } = effect.event;
    const wrong = this.#maps.wrong(effect.event, outputOf);
    if (wrong !== undefined) this.violate("arraysInBounds", wrong);
    this.note(
      () =>
        `tell ${event.case === "node" ? `${event.value.id?.nodeId ?? ""} ${event.value.phase}` : `${event.case} ${event.case === "notice" ? event.value.reason : (event.value?.phase ?? 0)}`}`,
    );
    if (event.case === "node") this.#bound(event.value);
    if (event.case !== "workflow" || !TERMINAL.has(event.value.phase)) return;
    this.#terminalPhases.add(event.value.phase);
    const durable = workflowEventPhase(this.#last()?.status.phase ?? 0);
    if (durable !== event.value.phase) {
      this.violate(
        "oneTerminalEvent",
        `reported ${WorkflowExecution_Phase[event.value.phase]} while the resource has ${WorkflowExecution_Phase[durable]}`,
      );
    }
  }

  /**
   * Checks a binding failure. Items of lists and outputs that the node does not have may be
   * missing, since workflows are random. Outputs of a branch may be missing when its chosen arm
   * never ran.
   */
  #bound({ outputResult }: NodeExecutionEvent): void {
    if (outputResult.case !== "error" || outputResult.value.code !== "BindingResolutionFailure") return;
    const { message } = outputResult.value;
    if (/not found at|node \[start-node\]/.test(message) && !this.#armNeverRan) this.violate("inputsThere", message);
  }

  podStarts(pod: Pod, others: readonly Pod[]): void {
    this.note(() => `pod ${pod.key} starts, ${pod.outcome.kind}`);
    if ((this.#asked.get(pod.node) ?? 0) > pod.attempt || this.#ended.has(pod.key) || this.#givenUp(pod)) {
      // A restarted plugin service started an ended attempt for a delayed request; it must be
      // stopped, see noOrphans.
      this.#zombies.add(pod.key);
      return;
    }
    this.world.shared.podStarts(pod, () => this.#seen.cluster.pods.get(pod.key) === pod && pod.state !== "ended" && !this.#givenUp(pod));
    for (const other of others) {
      if (other.state !== "ended" && !this.#zombies.has(other.key))
        this.violate("oneLivePod", `pod ${pod.key} starts while ${other.key} is ${other.state}`);
    }
  }

  checkFinalState(): void {
    const last = this.#last();
    if (last === undefined || !isOver(this.#seen.store)) {
      this.violate(
        "everyExecutionEnds",
        `still in phase ${last?.status.phase ?? -1} after ${this.world.schedule.elapsed} ms: ${JSON.stringify(last?.status.nodeStatus ?? {}).slice(0, 600)}`,
      );
      return;
    }
    for (const pod of this.#seen.cluster.running) {
      // A pod started by mistake can only be stopped if a process reports it.
      if (!(this.#zombies.has(pod.key) || this.#givenUp(pod)) || this.#seen.plugin.knows(pod.key))
        this.violate("noOrphans", `pod ${pod.key} runs after the end`);
    }
    for (const text of this.#seen.admin.complaints(this.status)) this.violate("nothingLost", text);
    for (const text of this.#complete.missing) this.violate("endsComplete", `the resource alone does not contain ${text}`);
    const wanted = workflowEventPhase(last.status.phase);
    const reported = [...this.#terminalPhases].map((phase) => WorkflowExecution_Phase[phase]);
    if (this.#terminalPhases.size !== 1 || !this.#terminalPhases.has(wanted)) {
      this.violate("oneTerminalEvent", `reported ${reported.join(", ") || "nothing"}, the resource has ${WorkflowExecution_Phase[wanted]}`);
    }
  }

  #last(): Resource | undefined {
    return this.#seen.store.current ?? this.#seen.store.history.at(-1);
  }

  violate(invariant: Invariant, text: string): void {
    this.world.violate(invariant, this.root ? text : `${this.name}: ${text}`);
  }

  note(text: () => string): void {
    this.world.log(this.root ? text : () => `${this.name}: ${text()}`);
  }
}

/** True when the chosen arm of a branch never ran, after a failure. */
function hasArmThatNeverRan(nodes: Readonly<Record<string, NodeStatus>>): boolean {
  return Object.values(nodes).some(
    ({ phase, parentNode, subNodeStatus = {} }) =>
      (phase === NodePhase.Skipped && parentNode !== undefined) || hasArmThatNeverRan(subNodeStatus),
  );
}

const TERMINAL: ReadonlySet<number> = new Set([
  WorkflowExecution_Phase.SUCCEEDED,
  WorkflowExecution_Phase.FAILED,
  WorkflowExecution_Phase.ABORTED,
  WorkflowExecution_Phase.TIMED_OUT,
]);
