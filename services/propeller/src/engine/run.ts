import { isTerminalWorkflow, WorkflowPhase } from "@flyte-ts/domain";
import { FINALIZER, terminatedLabels, type ParsedWorkflow, type WorkflowStatus } from "@flyte-ts/workflow-crd";
import { wakes } from "./ask/asked.js";
import { START_NODE } from "./graph/index-graph.js";
import { RuntimeNode } from "./graph/runtime.js";
import { restoreWritten, takeStatusChanges, wholeStatus } from "./status/resource-status.js";
import type { Effect, Observation, RejectionCause, ResourcePatch, RunCounts, RunInput, WorkflowRun } from "./types.js";
import { takeAnswer, wake } from "./walk/asking.js";
import { abortAll } from "./walk/abort-all.js";
import { tellNews } from "./walk/array-news.js";
import { armAgain } from "./walk/attempt.js";
import { start } from "./walk/begin.js";
import { BlobReads } from "./walk/blob-reads.js";
import { blobDue, blobWritten, timerOf } from "./walk/blob-writes.js";
import { nodeDue } from "./walk/deadline.js";
import { restore, revive } from "./walk/load.js";
import { look } from "./walk/look.js";
import { noticeBlob, tellNotice } from "./walk/noticing.js";
import { askAgain, takePlugins } from "./walk/plugins-changed.js";
import { scan } from "./walk/scan.js";
import { failScope, stepScope } from "./walk/scope-step.js";
import { nextWaiting } from "./walk/slots.js";
import { ABORT_REASON, stopScope } from "./walk/stop.js";
import { takeTaskEvent } from "./walk/task-event.js";
import { tellUnknown } from "./walk/tell-again.js";
import { Walk } from "./walk/walk.js";
import { endDue, finishWorkflow, workflowAborts, workflowStarts } from "./walk/workflow.js";

/**
 * Creates the run of a workflow from its resource. The first observation except `plugins` must be `load`. When another
 * client changed the resource (a write was refused), the caller creates a new run: transitions that were not durable
 * are derived again.
 */
export function createRun(input: RunInput): WorkflowRun {
  return new Run(input);
}

/** Effects that abort all attempts that the resource shows as running, when no run can be created, or none progresses. */
export function abortsOf({ workflow, config, now }: RunInput, reason: string): readonly Effect[] {
  const walk = walkOf({ workflow, config, now });
  walk.begin(now, false);
  abortAll(walk, walk.root, reason);
  return walk.end();
}

function walkOf({ workflow, config, now, testing }: RunInput): Walk {
  const walk = new Walk({ model: workflow.model, config, now }, workflow.status);
  walk.fullWalks = testing?.fullWalks ?? false;
  walk.forgetsFollowers = testing?.forgetsFollowers ?? false;
  walk.forgetsStarts = testing?.forgetsStarts ?? false;
  walk.forgetsChildren = testing?.forgetsChildren ?? false;
  walk.crowdsArrays = testing?.crowdsArrays ?? false;
  walk.forgetsOutputs = testing?.forgetsOutputs ?? false;
  walk.forgetsBelow = testing?.forgetsBelow ?? false;
  walk.forgetsItems = testing?.forgetsItems ?? false;
  walk.blobs = new BlobReads(config.blobRetry, config.random);
  restore(walk, workflow.status);
  return walk;
}

class Run implements WorkflowRun {
  readonly #walk: Walk;
  readonly #workflow: ParsedWorkflow;
  /** No status patch was taken since the last observation, so `room` continues that observation. */
  #unwritten = false;

  constructor(input: RunInput) {
    this.#workflow = input.workflow;
    this.#walk = walkOf(input);
    restoreWritten(this.#walk, input.workflow);
  }

  get key(): string {
    return this.#workflow.model.key;
  }

  get status(): WorkflowStatus {
    return wholeStatus(this.#walk);
  }

  get revision(): number {
    return this.#walk.revision;
  }

  get wakeAt(): number | undefined {
    return this.#walk.finishing === "no" ? this.#walk.timers.next : undefined;
  }

  get wantsRoom(): boolean {
    const { crowded, waiting, starting, finishing } = this.#walk;
    return crowded && finishing === "no" && (this.#walk.hasWork || waiting.size + starting.size > 0);
  }

  get phase(): number {
    return this.#walk.status.phase;
  }

  get terminal(): boolean {
    return isTerminalWorkflow(this.#walk.status.phase);
  }

  get finished(): boolean {
    return this.#walk.finishing !== "no";
  }

  get counts(): RunCounts {
    const { activeNodes, slotsUsed, waiting } = this.#walk;
    return { activeNodes, activeTasks: slotsUsed, waitingTasks: waiting.size };
  }

  observe(observation: Observation, now: number): readonly Effect[] {
    const walk = this.#walk;
    walk.begin(now, observation.kind === "room" && this.#unwritten);
    this.#unwritten = true;
    this.#take(observation);
    this.#drain();
    tellNews(walk);
    armAgain(walk);
    tellNotice(walk);
    return walk.end();
  }

  takePatch(): ResourcePatch | undefined {
    const walk = this.#walk;
    this.#unwritten = false;
    const changes = takeStatusChanges(walk);
    // Changes that cancel each other make no patch, but effects may wait for their revision.
    const news = changes !== undefined || walk.revision > walk.takenRevision;
    walk.takenRevision = walk.revision;
    if (walk.finishing !== "asked") return news ? { status: {}, ...changes } : undefined;
    walk.finishing = "taken";
    const finalizers = this.#workflow.finalizers.filter((name) => name !== FINALIZER);
    return {
      metadata: {
        labels: terminatedLabels(new Date(walk.now)),
        finalizers: finalizers.length === 0 ? null : finalizers,
      },
      status: {},
      ...changes,
    };
  }

  #take(observation: Observation): void {
    const walk = this.#walk;
    switch (observation.kind) {
      case "load":
        this.#load(observation.isNew ?? false);
        return;
      case "resync":
        if (!this.terminal) scan(walk, walk.root);
        return;
      case "taskEvent":
        takeTaskEvent(walk, observation.event);
        return;
      case "timer":
        this.#timer();
        return;
      case "room":
        walk.crowded = false;
        return;
      case "abort":
        this.#abort(observation.reason ?? ABORT_REASON);
        return;
      case "outputsRead":
      case "literalRead":
        this.#blobRead(observation);
        return;
      case "answered":
        takeAnswer(walk, observation.id, observation.answer);
        return;
      case "awaited":
        if (observation.nodeId !== undefined) wake(walk, wakes.child(observation.nodeId));
        if (observation.signalId !== undefined) wake(walk, wakes.signal(observation.signalId));
        return;
      case "outputsWritten":
        blobWritten(walk, observation.uri, observation.error);
        return;
      case "persisted":
        walk.goesAhead ||= observation.revision >= walk.startRevision;
        return;
      case "recorded":
        finishWorkflow(walk);
        return;
      case "rejected":
        this.#rejected(observation.cause, observation.message);
        return;
      case "unknownNode":
        tellUnknown(walk, observation.nodeId);
        return;
      case "plugins":
        takePlugins(walk, observation.plugins);
        return;
      case "pluginStarted":
        askAgain(walk, observation.taskTypes);
        return;
      case "tooLarge":
        if (!this.terminal)
          this.#failAs("WorkflowTooLarge", `Workflow execution state is too large for Flyte to handle. ${observation.message}`);
        return;
    }
  }

  #load(isNew: boolean): void {
    const walk = this.#walk;
    const { status } = walk;
    walk.noticeUntold = status.notice !== undefined;
    const { deletionRequested } = this.#workflow;
    if (status.phase !== WorkflowPhase.Ready) revive(walk);
    else if (!isNew || !deletionRequested) this.#start(isNew);
    if (this.terminal) return;
    if (deletionRequested) this.#abort(ABORT_REASON);
    if (this.terminal) return;
    scan(walk, walk.root);
    this.#timer();
  }

  /** Allows speculative starts on a new resource. On any other, assumes that an earlier process may have started nodes. */
  #start(isNew: boolean): void {
    const walk = this.#walk;
    walk.goesAhead = walk.prompt = isNew;
    walk.doubt = !isNew && !walk.forgetsStarts;
    const start = walk.root.nodes.get(START_NODE);
    // An abort of all nodes then includes its dependents.
    if (start !== undefined) start.presumed = walk.doubt;
    workflowStarts(walk);
    if (walk.root.broken) this.#failAs("BadSpecificationError", "StartNode not found.");
  }

  #timer(): void {
    const walk = this.#walk;
    for (const subject of walk.timers.takeDue(walk.now)) {
      if (subject instanceof RuntimeNode) nodeDue(walk, subject);
      else if ("blob" in subject) blobDue(walk, subject);
      else endDue(walk);
    }
  }

  #abort(reason: string): void {
    const walk = this.#walk;
    if (this.terminal || walk.aborting !== undefined) return;
    if (workflowAborts(walk, reason)) stopScope(walk, walk.root, reason);
  }

  #blobRead({ uri, result }: Extract<Observation, { kind: "outputsRead" | "literalRead" }>): void {
    const walk = this.#walk;
    const { ready, retryAt } = walk.blobs.answer(uri, result, walk.now);
    for (const node of ready) walk.look(node);
    if (retryAt === undefined) return;
    walk.timers.set(timerOf(walk, uri), retryAt);
    if (result.kind === "error") noticeBlob(walk, uri, result.message);
  }

  /** Aborts and finalizes the execution: admin rejects its events and will never record its end. */
  #rejected(cause: RejectionCause, message: string): void {
    const walk = this.#walk;
    walk.refused = true;
    if (this.terminal) {
      finishWorkflow(walk);
      return;
    }
    switch (cause) {
      case "notFound":
        this.#failAs("ExecutionNotFound", "Workflow execution not found in flyteadmin.");
        return;
      case "incompatibleCluster":
        this.#failAs("EventIncompatibleClusterError", `Workflow execution cluster reassigned: ${message}`);
        return;
      case "terminal":
        this.#abort("Workflow is over for the control plane.");
        return;
    }
  }

  #failAs(code: string, message: string): void {
    const walk = this.#walk;
    if (walk.aborting !== undefined || walk.root.stage !== "run") return;
    failScope(walk, walk.root, { error: { code, kind: "SYSTEM", message }, failedNode: "" });
  }

  /** Reconciles until nothing is queued; only then assigns slots. Work beyond the limits of one observation waits for `room`. */
  #drain(): void {
    const walk = this.#walk;
    let started = 0;
    for (let looked = 0; ; looked++) {
      if (looked >= walk.config.looksPerRound) {
        walk.crowded = true;
        return;
      }
      if (walk.fullWalks && walk.scanAgain && !this.terminal) {
        walk.scanAgain = false;
        scan(walk, walk.root);
      }
      const node = walk.work.pop();
      if (node !== undefined) {
        node.queued = false;
        look(walk, node);
        continue;
      }
      const scope = walk.takeScope();
      if (scope !== undefined) {
        stepScope(walk, scope);
        continue;
      }
      if (started >= walk.config.startsPerRound) walk.crowded = true;
      if (walk.crowded) return;
      const waiting = nextWaiting(walk);
      if (waiting === undefined) return;
      start(walk, waiting);
      started++;
    }
  }
}
