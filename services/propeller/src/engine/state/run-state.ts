import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { WorkflowModel } from "@flyte-ts/workflow-crd";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import type { PendingCall } from "../calls/pending-call.js";
import type { EngineConfig } from "../config.js";
import { executionDataDir } from "../graph/paths.js";
import { ErrorBudget } from "../errors/error-budget.js";
import { BinaryHeap } from "@flyte-ts/async/collections";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { Blockers } from "../events/blockers.js";
import { UNKNOWN_PLUGIN_HEALTH, type PluginHealth } from "../plugin-health.js";
import type { StatusSlices } from "../status/status-slices.js";
import { TimerHeap } from "../time/timer-heap.js";
import type { Effect, EngineMetric, KubeEvent } from "../types.js";
import type { BlobReads } from "./blob-reads.js";
import type { EnginePolicy } from "./engine-policy.js";
import { EventPublisher } from "../events/event-publisher.js";

/** `afterWrite`: only when the status as of the end of this observation is durable. */
export type EffectTiming = "immediate" | "afterWrite";

/** Fields of the workflow's own status, without its nodes. */
export type WorkflowOwnStatus = Omit<WorkflowStatus, "nodeStatus" | "slices" | "nodeCounts">;

/** Subject of a timer: a node, a blob or the workflow itself. */
export type TimerSubject = RuntimeNode | BlobTimer | WorkflowTimer;
export interface BlobTimer {
  readonly blob: string;
}
export interface WorkflowTimer {
  readonly workflow: true;
}

export interface PendingBlobWrite {
  readonly node: RuntimeNode;
  readonly literals: LiteralMap;
  attempts: number;
  retryAt: number | undefined;
}

/**
 * State of one running workflow, and the operations shared by all parts of the engine: change a
 * status, emit an event, enqueue a node. The parts are the functions in this folder.
 */
export class RunState {
  /** Time of the current observation, ms. */
  now = 0;
  /** Counts observations. */
  observationSeq = 0;
  /**
   * The observation that this one is or continues: effects of nodes that it made ready may precede
   * the status write, later ones may not.
   */
  #originObservation = 0;
  /**
   * Nodes that this observation makes ready may start before it is durable: an attempt's success
   * caused it, which is reported again after a crash.
   */
  speculative = false;
  /** Nodes that become ready now may have started before a restart, see RuntimeNode.unconfirmed. */
  priorStartPossible = false;
  root!: Scope;
  status: WorkflowOwnStatus;
  persistedStatus: WorkflowOwnStatus;
  revision = 0;
  /** Revision of the last taken patch. */
  patchedRevision = 0;

  /** Queue of nodes to reconcile in this observation. */
  readonly nodeQueue = new BinaryHeap<RuntimeNode>(byTopologicalOrder);
  readonly #scopeQueue = new BinaryHeap<Scope>(deepestFirst);
  readonly #queuedScopes = new Set<Scope>();
  /** Arrays with unpublished item changes. */
  readonly arraysWithChanges = new Set<Scope>();
  /** Nodes whose timers must be rescheduled. */
  readonly timersToReschedule = new Set<RuntimeNode>();
  readonly dirtyNodes = new Set<RuntimeNode>();
  /**
   * Statuses of the nodes when they are too large for the resource; undefined while the resource
   * holds them.
   */
  slices: StatusSlices | undefined;
  /** Approximate upper bound of the statuses in the resource, bytes. */
  inlineStatusBytes = 0;
  /** Ready task nodes without a slot, in graph order. */
  readonly slotQueue = new BinaryHeap<RuntimeNode>(byTopologicalOrder);
  /** Items of arrays that may start. */
  readonly startQueue = new BinaryHeap<RuntimeNode>(byTopologicalOrder);
  /**
   * The observation has reached its limit of starts; further nodes wait for `capacity`, see
   * `maxStartsPerObservation`.
   */
  startsThrottled = false;
  /** Nodes and items of all graphs entered and not discarded. */
  instances = 0;
  slotsUsed = 0;
  activeNodes = 0;
  /** Nodes whose outputs the status holds by value. */
  readonly inlineOutputs = new Map<RuntimeNode, number>();
  inlineOutputBytes = 0;
  /** Bytes of outputs that the status holds by value only until the end is recorded. */
  keptOutputBytes = 0;
  /** Nodes below ended ones whose statuses are kept until the end is recorded. */
  keptNodes = 0;
  readonly timers = new TimerHeap<TimerSubject>();
  readonly workflowTimer: WorkflowTimer = { workflow: true };
  blobReads!: BlobReads;
  plugins: PluginHealth = UNKNOWN_PLUGIN_HEALTH;
  readonly errors = new ErrorBudget();
  readonly blockers = new Blockers();
  /** The blocker in the status may not have been published. */
  blockerUnpublished = false;
  readonly pendingBlobWrites = new Map<string, PendingBlobWrite>();
  /** Pending calls by id. */
  readonly pendingCalls = new Map<string, { readonly node: RuntimeNode; readonly pending: PendingCall }>();
  /** Nodes that wait for a wake-up, by its key. */
  readonly wakeupListeners = new Map<string, Set<RuntimeNode>>();
  readonly blobTimers = new Map<string, BlobTimer>();

  /**
   * The stored status says Running, or no other process ever loaded it: speculative effects need
   * not wait for a write.
   */
  speculationAllowed = false;
  startedRevision = 0;
  /** Reason of the abort of the whole execution; undefined without one. */
  abortReason: string | undefined;
  /** Admin rejects the execution's events and will not record its end. */
  eventsRejected = false;
  /** Time at which the workflow ended, ms, if this process observed it. */
  endedAt: number | undefined;
  terminalPublishCount = 0;
  republishAt: number | undefined;
  /** The end is recorded: labels and finalizer must be changed. */
  finalization: "none" | "requested" | "patched" = "none";

  /**
   * This observation continues work left by another, so nothing that it makes ready follows from it
   * alone.
   */
  #hasInheritedWork = false;

  readonly events = new EventPublisher(this);
  #effects: Effect[] = [];
  #afterWriteIndexes: number[] = [];
  #statusChanged = false;
  #callCount = 0;
  readonly #startedAt: number;

  readonly model: WorkflowModel;
  readonly config: EngineConfig;
  readonly policy: EnginePolicy;

  constructor({ model, config, policy, now }: Pick<RunState, "model" | "config" | "policy" | "now">, status: WorkflowStatus) {
    this.model = model;
    this.config = config;
    this.policy = policy;
    this.now = now;
    this.#startedAt = now;
    const { nodeStatus: _n, slices: _s, nodeCounts: _c, ...own } = status;
    this.status = own;
    this.persistedStatus = own;
  }

  get dataDir(): string {
    return this.status.dataDir ?? executionDataDir(this.config.metadataPrefix, this.model.executionId);
  }

  templateOf(node: RuntimeNode): TaskTemplate | undefined {
    const { target } = node.model;
    if (target.kind !== "task") return undefined;
    const { array, definitions } = node.scope;
    return array === undefined ? definitions.tasks.get(target.task) : array.cacheTemplate;
  }

  /** Task of the node's task executions: for an array, that of its items. */
  taskIdOf(node: RuntimeNode): Identifier | undefined {
    const { target } = node.model;
    if (target.kind !== "array") return this.templateOf(node)?.id;
    const itemTarget = target.subNode.target;
    return itemTarget.kind === "task" ? node.scope.definitions.tasks.get(itemTarget.task)?.id : undefined;
  }

  // Changes

  setNodeStatus(node: RuntimeNode, status: NodeStatus): void {
    node.status = status;
    this.dirtyNodes.add(node);
    this.#statusChanged = true;
  }

  setWorkflowStatus(status: WorkflowOwnStatus): void {
    this.status = status;
    this.#statusChanged = true;
  }

  // Effects

  emit(effect: Effect, timing: EffectTiming = "immediate"): void {
    if (timing === "afterWrite") this.#afterWriteIndexes.push(this.#effects.length);
    this.#effects.push(effect);
  }

  /** Writes a blob; the node continues when all of its `pendingWrites` are done. */
  writeBlob(node: RuntimeNode, uri: string, literals: LiteralMap): void {
    this.pendingBlobWrites.set(uri, { node, literals, attempts: 0, retryAt: undefined });
    this.emit({ kind: "writeOutputs", uri, outputs: literals });
  }

  /** Cancels the wait for the node's writes. */
  cancelWrites(node: RuntimeNode): void {
    for (const uri of node.pendingWrites ?? []) this.pendingBlobWrites.delete(uri);
    node.pendingWrites = undefined;
  }

  emitMetric(metric: EngineMetric, labels?: Readonly<Record<string, string>>, seconds?: number): void {
    this.#effects.push({ kind: "metric", metric, ...(labels && { labels }), ...(seconds === undefined ? {} : { seconds }) });
  }

  emitKubeEvent(type: KubeEvent["type"], reason: string, message: string): void {
    this.#effects.push({ kind: "kubeEvent", kubeEvent: { type, reason, message } });
  }

  /** Unique id, so that results of an earlier run's calls are distinguished from this run's. */
  nextCallId(): string {
    return `${this.#startedAt.toString(36)}-${this.#callCount++}`;
  }

  // Queues

  enqueueNode(node: RuntimeNode): void {
    if (node.inNodeQueue || node.ended) return;
    node.inNodeQueue = true;
    this.nodeQueue.push(node);
  }

  enqueueScope(scope: Scope): void {
    if (this.#queuedScopes.has(scope)) return;
    this.#queuedScopes.add(scope);
    this.#scopeQueue.push(scope);
  }

  /** Dequeues the next graph to reconcile as a whole. */
  dequeueScope(): Scope | undefined {
    for (let scope = this.#scopeQueue.pop(); scope !== undefined; scope = this.#scopeQueue.pop()) {
      if (this.#queuedScopes.delete(scope)) return scope;
    }
    return undefined;
  }

  /** True while nodes or graphs are queued. */
  get hasWork(): boolean {
    return this.nodeQueue.size + this.#queuedScopes.size > 0;
  }

  /** Removes a discarded graph from the queue. */
  removeQueuedScope(scope: Scope): void {
    this.#queuedScopes.delete(scope);
  }

  // One observation

  /**
   * `continuesPrevious`: continues the previous observation, whose ready nodes may still start
   * before the status write.
   */
  beginObservation(now: number, continuesPrevious: boolean): void {
    // A clock that goes backwards must not date a phase before an earlier one.
    this.now = Math.max(this.now, now);
    this.observationSeq++;
    // Queued work keeps the doubt of the observation that enqueued it.
    this.priorStartPossible &&= this.hasWork;
    if (continuesPrevious) return;
    this.#hasInheritedWork = this.hasWork;
    this.#originObservation = this.observationSeq;
    this.speculative = false;
  }

  /**
   * Effects may precede the status write only if a restart would derive them again: those that
   * follow at once from an attempt's success, which is reported again, or from the start of a
   * resource that no process has started, as long as it is stored as new. All others wait.
   */
  effectTimingFor(node: RuntimeNode): EffectTiming {
    return this.speculationAllowed && this.speculative && !this.#hasInheritedWork && node.readyAtObservation === this.#originObservation
      ? "immediate"
      : "afterWrite";
  }

  /**
   * True when the node's new effects may already have happened. A failure node never runs ahead of
   * the status.
   */
  priorStartPossibleFor(node: RuntimeNode): boolean {
    return this.priorStartPossible && node !== node.scope.failureNode;
  }

  /** Returns the observation's effects; held ones wait for its revision. */
  endObservation(): readonly Effect[] {
    if (this.#statusChanged) {
      this.revision++;
      this.#statusChanged = false;
    }
    const effects = this.#effects;
    for (const at of this.#afterWriteIndexes) {
      const effect = effects[at];
      switch (effect?.kind) {
        case "sendTaskRequest":
        case "publish":
        case "call":
        case "finalize":
          effects[at] = { ...effect, afterRevision: this.revision };
          break;
        default:
          break;
      }
    }
    this.#effects = [];
    this.#afterWriteIndexes = [];
    return effects;
  }
}

/** Graph order, so that decisions do not depend on the order of discovery. */
function byTopologicalOrder(a: RuntimeNode, b: RuntimeNode): boolean {
  return a.topologicalKey < b.topologicalKey;
}

/**
 * Nested graphs before the one that contains them: a nested graph that fails in the same
 * observation as its parent has failed by itself, and is not shown as aborted.
 */
function deepestFirst(a: Scope, b: Scope): boolean {
  if (a.depth !== b.depth) return a.depth > b.depth;
  return (a.owner?.topologicalKey ?? "") < (b.owner?.topologicalKey ?? "");
}
