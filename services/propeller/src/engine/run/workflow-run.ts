import { isTerminalWorkflow, WorkflowPhase } from "@flyte-ts/domain/phase";
import { FINALIZER, type ParsedWorkflow, terminatedLabels } from "@flyte-ts/workflow-crd";
import type { WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { wakeupKeys } from "../calls/pending-call.js";
import { START_NODE } from "../graph/index-graph.js";
import { RuntimeNode } from "../graph/runtime.js";
import { type PatchContext, wholeStatus } from "../status/resource-status.js";
import type { Effect, Observation, RejectionCause, ResourcePatch, RunCounts, WorkflowRun } from "../types.js";
import { onCallResult, onWakeup } from "../dependencies/calls.js";
import { abortAll } from "../abort/abort-all.js";
import { publishArrayChanges } from "../events/item-events.js";
import { rescheduleTimers } from "../requests/requests.js";
import { startNode } from "../reconcile/start-node.js";
import { onBlobTimer, onBlobWritten } from "../reconcile/blob-writes.js";
import { onNodeTimer } from "../attempt/deadlines.js";
import { restore, resumeRun } from "../restore/restore.js";
import { reconcileNode } from "../reconcile/reconcile-node.js";
import { addBlobBlocker, publishBlocker } from "../events/report-blockers.js";
import { onPluginStarted, onPluginHealth } from "../attempt/plugin-health-change.js";
import { resyncScope } from "../state/resync.js";
import { failScope, reconcileScope } from "../reconcile/reconcile-scope.js";
import { dequeueStart } from "../state/scheduler.js";
import { ABORT_REASON, abortScope } from "../abort/abort.js";
import { onTaskEvent } from "../attempt/task-event.js";
import { republishUnknownNode } from "../restore/republish.js";
import type { EngineConfig } from "../config.js";
import { defaultPolicy, type EnginePolicy } from "../state/engine-policy.js";
import { RunState } from "../state/run-state.js";
import { onRepublishTimer, requestFinalization, abortWorkflow, startWorkflow } from "../lifecycle/workflow-phase.js";

export interface RunInput {
  readonly workflow: ParsedWorkflow;
  readonly config: EngineConfig;
  /** ms since the epoch. */
  readonly now: number;
  /** Default: `defaultPolicy`. */
  readonly policy?: EnginePolicy;
}

/**
 * Creates the run of a workflow from its resource. The first observation except `plugins` must be
 * `load`. When another client changed the resource (a write was refused), the caller creates a new
 * run: transitions that were not durable are derived again.
 */
export function createRun(input: RunInput): WorkflowRun {
  return new Run(input);
}

/**
 * Effects that abort all attempts that the resource shows as running, when no run can be created,
 * or none progresses.
 */
export function buildAbortEffects({ workflow, config, now }: RunInput, reason: string): readonly Effect[] {
  const state = newRunState({ workflow, config, now });
  state.beginObservation(now, false);
  abortAll(state, state.root, reason);
  return state.endObservation();
}

function newRunState({ workflow, config, now, policy = defaultPolicy }: RunInput): RunState {
  const state = new RunState({ model: workflow.model, config, policy, now }, workflow.status);
  restore(state, workflow.status);
  return state;
}

function patchContext({ root, config, dataDir, end }: RunState): PatchContext {
  return { root, config, dataDir, isFinal: end.finalization === "requested" };
}

class Run implements WorkflowRun {
  readonly #state: RunState;
  readonly #workflow: ParsedWorkflow;
  /** No status patch was taken since the last observation, so `capacity` continues it. */
  #persistedPending = false;

  constructor(input: RunInput) {
    this.#workflow = input.workflow;
    this.#state = newRunState(input);
    this.#state.status.restorePersisted(input.workflow, patchContext(this.#state));
  }

  get key(): string {
    return this.#workflow.model.key;
  }

  get status(): WorkflowStatus {
    return wholeStatus(this.#state.status, this.#state.root);
  }

  get revision(): number {
    return this.#state.status.revision;
  }

  get nextTimerAt(): number | undefined {
    return this.#state.end.finalization === "none" ? this.#state.timers.next : undefined;
  }

  get needsCapacity(): boolean {
    const { queues, end } = this.#state;
    return queues.startsThrottled && end.finalization === "none" && (queues.hasWork || queues.hasStarts);
  }

  get phase(): number {
    return this.#state.status.workflow.phase;
  }

  get terminal(): boolean {
    return isTerminalWorkflow(this.#state.status.workflow.phase);
  }

  get isFinalizing(): boolean {
    return this.#state.end.finalization !== "none";
  }

  get counts(): RunCounts {
    const { usage, queues } = this.#state;
    return { activeNodes: usage.activeNodes, activeTasks: usage.slotsUsed, queuedTasks: queues.slotWaiters };
  }

  observe(observation: Observation, now: number): readonly Effect[] {
    const state = this.#state;
    state.beginObservation(now, observation.kind === "capacity" && this.#persistedPending);
    this.#persistedPending = true;
    this.#apply(observation);
    this.#drain(observation.kind === "capacity" ? observation.maxReconciles : undefined);
    publishArrayChanges(state);
    rescheduleTimers(state);
    publishBlocker(state);
    return state.endObservation();
  }

  takeStatusPatch(): ResourcePatch | undefined {
    const state = this.#state;
    this.#persistedPending = false;
    const { changes, isNew } = state.status.takeChanges(patchContext(state));
    if (state.end.finalization !== "requested") return isNew ? { status: {}, ...changes } : undefined;
    state.end.finalizationPatched();
    const finalizers = this.#workflow.finalizers.filter((name) => name !== FINALIZER);
    return {
      metadata: {
        labels: terminatedLabels(new Date(state.observation.now)),
        finalizers: finalizers.length === 0 ? null : finalizers,
      },
      status: {},
      ...changes,
    };
  }

  #apply(observation: Observation): void {
    const state = this.#state;
    switch (observation.kind) {
      case "load":
        this.#load(observation.isNew ?? false);
        return;
      case "resync":
        if (!this.terminal) resyncScope(state.queues, state.root);
        return;
      case "taskEvent":
        onTaskEvent(state, observation.event);
        return;
      case "timer":
        this.#timer();
        return;
      case "capacity":
        state.queues.resumeStarts();
        return;
      case "abort":
        this.#abort(observation.reason ?? ABORT_REASON);
        return;
      case "outputsRead":
      case "literalRead":
        this.#onBlobRead(observation);
        return;
      case "callResult":
        onCallResult(state, observation.id, observation.result);
        return;
      case "wakeup":
        if (observation.nodeId !== undefined) onWakeup(state, wakeupKeys.child(observation.nodeId));
        if (observation.signalId !== undefined) onWakeup(state, wakeupKeys.signal(observation.signalId));
        return;
      case "outputsWritten":
        onBlobWritten(state, observation.uri, observation.error);
        return;
      case "persisted":
        state.observation.statusPersisted(observation.revision);
        return;
      case "endRecorded":
        requestFinalization(state);
        return;
      case "rejected":
        this.#onRejected(observation.cause, observation.message);
        return;
      case "unknownNode":
        republishUnknownNode(state, observation.nodeId);
        return;
      case "plugins":
        onPluginHealth(state, observation.plugins);
        return;
      case "pluginStarted":
        onPluginStarted(state, observation.taskTypes);
        return;
      case "tooLarge":
        if (!this.terminal)
          this.#failWorkflow("WorkflowTooLarge", `Workflow execution state is too large for Flyte to handle. ${observation.message}`);
        return;
    }
  }

  #load(isNew: boolean): void {
    const state = this.#state;
    const { workflow: status } = state.status;
    state.publishing.setBlockerUnpublished(status.notice !== undefined);
    const { deletionRequested } = this.#workflow;
    if (status.phase !== WorkflowPhase.Ready) resumeRun(state);
    else if (!isNew || !deletionRequested) this.#start(isNew);
    if (this.terminal) return;
    if (deletionRequested) this.#abort(ABORT_REASON);
    if (this.terminal) return;
    resyncScope(state.queues, state.root);
    this.#timer();
  }

  /**
   * Allows speculative starts on a new resource. On any other, assumes that an earlier process may
   * have started nodes.
   */
  #start(isNew: boolean): void {
    const state = this.#state;
    state.observation.restoreSpeculation(isNew);
    if (isNew) state.observation.startSpeculation();
    state.observation.setPriorStartPossible(state.policy.priorStartPossible(isNew));
    const start = state.root.nodes.get(START_NODE);
    // An abort of all nodes then includes the dependents of the start node.
    if (start !== undefined) start.readiness.setMaybeSucceeded(state.observation.priorStartPossible);
    startWorkflow(state);
    if (state.root.isInvalid) this.#failWorkflow("BadSpecificationError", "StartNode not found.");
  }

  #timer(): void {
    const state = this.#state;
    for (const subject of state.timers.popDue(state.observation.now)) {
      if (subject instanceof RuntimeNode) onNodeTimer(state, subject);
      else if ("blob" in subject) onBlobTimer(state, subject);
      else onRepublishTimer(state);
    }
  }

  #abort(reason: string): void {
    const state = this.#state;
    if (this.terminal || state.end.abortReason !== undefined) return;
    if (abortWorkflow(state, reason)) abortScope(state, state.root, reason);
  }

  #onBlobRead({ uri, result }: Extract<Observation, { kind: "outputsRead" | "literalRead" }>): void {
    const state = this.#state;
    const { ready, retryAt } = state.blobReads.onResult(uri, result, state.observation.now);
    for (const node of ready) state.queues.enqueueNode(node);
    if (retryAt === undefined) return;
    state.timers.scheduleBlob(uri, retryAt);
    if (result.kind === "error") addBlobBlocker(state, uri, result.message);
  }

  /** Aborts and finalizes the execution: admin rejects its events and will never record its end. */
  #onRejected(cause: RejectionCause, message: string): void {
    const state = this.#state;
    if (this.terminal) {
      requestFinalization(state);
      return;
    }
    switch (cause) {
      case "notFound":
        this.#failWorkflow("ExecutionNotFound", "Workflow execution not found in flyteadmin.");
        return;
      case "incompatibleCluster":
        this.#failWorkflow("EventIncompatibleClusterError", `Workflow execution cluster reassigned: ${message}`);
        return;
      case "terminal":
        this.#abort("The control plane reports that the execution has ended.");
        return;
    }
  }

  #failWorkflow(code: string, message: string): void {
    const state = this.#state;
    if (state.end.abortReason !== undefined || state.root.stage !== "running") return;
    failScope(state, state.root, { error: { code, kind: "SYSTEM", message }, failedNode: "" });
  }

  /**
   * Reconciles until nothing is queued; only then assigns slots. Work beyond the limits of one
   * observation waits for `capacity`.
   */
  #drain(maxReconciles = this.#state.config.maxReconcilesPerObservation): void {
    const state = this.#state;
    let started = 0;
    for (let looked = 0; ; looked++) {
      if (looked >= maxReconciles) {
        state.queues.throttleStarts();
        return;
      }
      if (!this.terminal) state.policy.readiness.beforeDequeue(state.queues, state.root);
      const node = state.queues.dequeueNode();
      if (node !== undefined) {
        reconcileNode(state, node);
        continue;
      }
      const scope = state.queues.dequeueScope();
      if (scope !== undefined) {
        reconcileScope(state, scope);
        continue;
      }
      if (started >= state.config.maxStartsPerObservation) state.queues.throttleStarts();
      if (state.queues.startsThrottled) return;
      const waiting = dequeueStart(state);
      if (waiting === undefined) return;
      startNode(state, waiting);
      started++;
    }
  }
}
