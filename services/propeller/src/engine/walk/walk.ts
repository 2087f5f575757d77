import { NodePhase } from "@flyte-ts/domain";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { NodeStatus, WorkflowModel, WorkflowStatus } from "@flyte-ts/workflow-crd";
import type { Asked } from "../ask/asked.js";
import type { EngineConfig } from "../config.js";
import { executionDataDir } from "../data/paths.js";
import { ErrorBudget } from "../failure/error-budget.js";
import { BinaryHeap } from "@flyte-ts/heap";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { Hindrances } from "../notice/hindrances.js";
import { NO_PLUGINS_KNOWN, type PluginsKnown } from "../plugin/known.js";
import type { StatusSlices } from "../status/status-slices.js";
import { TimerHeap } from "../time/timer-heap.js";
import type { Effect, EngineMetric, Note } from "../types.js";
import type { BlobReads } from "./blob-reads.js";
import { EventMint } from "./event-mint.js";

/** `held`: only when the status as of the end of this observation is durable. */
export type Release = "now" | "held";

/** Fields of the workflow's own status, without its nodes. */
export type OwnStatus = Omit<WorkflowStatus, "nodeStatus" | "slices" | "nodeCounts">;

/** Subject of a timer: a node, a blob or the workflow itself. */
export type TimerSubject = RuntimeNode | BlobTimer | WorkflowTimer;
export interface BlobTimer {
  readonly blob: string;
}
export interface WorkflowTimer {
  readonly workflow: true;
}

export interface PendingWrite {
  readonly node: RuntimeNode;
  readonly literals: LiteralMap;
  tries: number;
  retryAt: number | undefined;
}

/**
 * State of one running workflow, and the operations shared by all parts of the engine: change a status, emit an event,
 * enqueue a node. The parts are the functions in this folder.
 */
export class Walk {
  /** Time of the current observation, ms. */
  now = 0;
  /** Counts observations. */
  seq = 0;
  /**
   * The observation that this one is or continues: effects of nodes that it made ready may precede the status write,
   * later ones may not.
   */
  #origin = 0;
  /**
   * Nodes that this observation makes ready may start before it is durable: an attempt's success caused it, which is
   * reported again after a crash.
   */
  prompt = false;
  /** Nodes that become ready now may have started before a restart, see RuntimeNode.unconfirmed. */
  doubt = false;
  root!: Scope;
  status: OwnStatus;
  writtenStatus: OwnStatus;
  revision = 0;
  /** Revision of the last taken patch. */
  takenRevision = 0;

  /** Queue of nodes to reconcile in this observation. */
  readonly work = new BinaryHeap<RuntimeNode>(byPlace);
  readonly #scopes = new BinaryHeap<Scope>(innerFirst);
  readonly #scopesToStep = new Set<Scope>();
  /** Arrays with unpublished item changes. */
  readonly news = new Set<Scope>();
  /** Nodes whose timers must be rescheduled. */
  readonly armed = new Set<RuntimeNode>();
  readonly dirty = new Set<RuntimeNode>();
  /** Statuses of the nodes when they are too large for the resource; undefined while the resource holds them. */
  slices: StatusSlices | undefined;
  /** Approximate upper bound of the statuses in the resource, bytes. */
  inlineBytes = 0;
  /** Ready task nodes without a slot, in graph order. */
  readonly waiting = new BinaryHeap<RuntimeNode>(byPlace);
  /** Items of arrays that may start. */
  readonly starting = new BinaryHeap<RuntimeNode>(byPlace);
  /** The observation has reached its limit of starts; further nodes wait for `room`, see `startsPerRound`. */
  crowded = false;
  /** Nodes and items of all graphs entered and not discarded. */
  instances = 0;
  slotsUsed = 0;
  activeNodes = 0;
  /** Nodes whose outputs the status holds by value. */
  readonly retained = new Map<RuntimeNode, number>();
  retainedBytes = 0;
  /** Bytes of outputs that the status holds by value only until the end is recorded. */
  keptBytes = 0;
  /** Nodes below ended ones whose statuses are kept until the end is recorded. */
  keptNodes = 0;
  readonly timers = new TimerHeap<TimerSubject>();
  readonly workflowTimer: WorkflowTimer = { workflow: true };
  blobs!: BlobReads;
  plugins: PluginsKnown = NO_PLUGINS_KNOWN;
  readonly errors = new ErrorBudget();
  readonly hindrances = new Hindrances();
  /** The blocker in the status may not have been published. */
  noticeUntold = false;
  readonly writes = new Map<string, PendingWrite>();
  /** Pending calls by id. */
  readonly asked = new Map<string, { readonly node: RuntimeNode; readonly asked: Asked }>();
  /** Nodes that wait for a wake-up, by its key. */
  readonly listening = new Map<string, Set<RuntimeNode>>();
  readonly blobTimers = new Map<string, BlobTimer>();

  /** Tests: finds ready nodes by scanning the whole graph, never by counters. */
  fullWalks = false;
  /** Tests: planted mistake, possibly running dependents are not aborted after a restart. */
  forgetsFollowers = false;
  /** Tests: planted mistake, speculatively started nodes are not aborted. */
  forgetsStarts = false;
  /** Tests: planted mistake, a child that may not exist yet is not terminated. */
  forgetsChildren = false;
  /** Tests: planted mistake, arrays start one item too many. */
  crowdsArrays = false;
  /** Tests: planted mistake, outputs are deleted with their last consumer. */
  forgetsOutputs = false;
  /** Tests: planted mistake, statuses below a node are deleted at its end. */
  forgetsBelow = false;
  /** Tests: planted mistake, items use none of their array's inputs. */
  forgetsItems = false;
  /** Tests: a node ended, so a resync may find more work. */
  scanAgain = false;

  /** The stored status says Running, or no other process ever loaded it: effects with `prompt` need not wait for a write. */
  goesAhead = false;
  startRevision = 0;
  /** Reason of the abort of the whole execution; undefined without one. */
  aborting: string | undefined;
  /** Admin rejects the execution's events and will not record its end. */
  refused = false;
  /** Time at which the workflow ended, ms, if this process observed it. */
  endedAt: number | undefined;
  republished = 0;
  republishAt: number | undefined;
  /** The end is recorded: labels and finalizer must be changed. */
  finishing: "no" | "asked" | "taken" = "no";

  /** This observation continues work left by another, so nothing that it makes ready follows from it alone. */
  #takesOver = false;

  readonly tell = new EventMint(this);
  #effects: Effect[] = [];
  #held: number[] = [];
  #changed = false;
  #asks = 0;
  readonly #startedAt: number;

  readonly model: WorkflowModel;
  readonly config: EngineConfig;

  constructor({ model, config, now }: Pick<Walk, "model" | "config" | "now">, status: WorkflowStatus) {
    this.model = model;
    this.config = config;
    this.now = now;
    this.#startedAt = now;
    const { nodeStatus: _n, slices: _s, nodeCounts: _c, ...own } = status;
    this.status = own;
    this.writtenStatus = own;
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
    const inner = target.subNode.target;
    return inner.kind === "task" ? node.scope.definitions.tasks.get(inner.task)?.id : undefined;
  }

  // Changes

  setNode(node: RuntimeNode, status: NodeStatus): void {
    node.status = status;
    this.dirty.add(node);
    this.#changed = true;
  }

  setWorkflow(status: OwnStatus): void {
    this.status = status;
    this.#changed = true;
  }

  // Effects

  emit(effect: Effect, release: Release = "now"): void {
    if (release === "held") this.#held.push(this.#effects.length);
    this.#effects.push(effect);
  }

  /** Writes a blob; the node continues when all of its `writes` are done. */
  writeBlob(node: RuntimeNode, uri: string, literals: LiteralMap): void {
    this.writes.set(uri, { node, literals, tries: 0, retryAt: undefined });
    this.emit({ kind: "writeOutputs", uri, outputs: literals });
  }

  /** Cancels the wait for the node's writes. */
  dropWrites(node: RuntimeNode): void {
    for (const uri of node.writes ?? []) this.writes.delete(uri);
    node.writes = undefined;
  }

  count(metric: EngineMetric, labels?: Readonly<Record<string, string>>, seconds?: number): void {
    this.#effects.push({ kind: "count", metric, ...(labels && { labels }), ...(seconds === undefined ? {} : { seconds }) });
  }

  note(type: Note["type"], reason: string, message: string): void {
    this.#effects.push({ kind: "note", note: { type, reason, message } });
  }

  /** Unique id, so that results of an earlier run's calls are distinguished from this run's. */
  nextAskId(): string {
    return `${this.#startedAt.toString(36)}-${this.#asks++}`;
  }

  // Queues

  look(node: RuntimeNode): void {
    if (node.queued || node.settled) return;
    node.queued = true;
    this.work.push(node);
  }

  lookAt(scope: Scope): void {
    if (this.#scopesToStep.has(scope)) return;
    this.#scopesToStep.add(scope);
    this.#scopes.push(scope);
  }

  /** Dequeues the next graph to reconcile as a whole. */
  takeScope(): Scope | undefined {
    for (let scope = this.#scopes.pop(); scope !== undefined; scope = this.#scopes.pop()) {
      if (this.#scopesToStep.delete(scope)) return scope;
    }
    return undefined;
  }

  /** True while nodes or graphs are queued. */
  get hasWork(): boolean {
    return this.work.size + this.#scopesToStep.size > 0;
  }

  /** Removes a discarded graph from the queue. */
  forgetScope(scope: Scope): void {
    this.#scopesToStep.delete(scope);
  }

  // One observation

  /** `goesOn`: continues the previous observation, whose ready nodes may still start before the status write. */
  begin(now: number, goesOn: boolean): void {
    // A clock that goes backwards must not date a phase before an earlier one.
    this.now = Math.max(this.now, now);
    this.seq++;
    // Queued work keeps the doubt of the observation that enqueued it.
    this.doubt &&= this.hasWork;
    if (goesOn) return;
    this.#takesOver = this.hasWork;
    this.#origin = this.seq;
    this.prompt = false;
  }

  /**
   * Effects may precede the status write only if a restart would derive them again: those that follow at once from an
   * attempt's success, which is reported again, or from the start of a resource that no process has started, as long as
   * it is stored as new. All others wait.
   */
  releaseOf(node: RuntimeNode): Release {
    return this.goesAhead && this.prompt && !this.#takesOver && node.readySeq === this.#origin ? "now" : "held";
  }

  /** True when the node's new effects may already have happened. A failure node never runs ahead of the status. */
  doubts(node: RuntimeNode): boolean {
    return this.doubt && node !== node.scope.failureNode;
  }

  /** Returns the observation's effects; held ones wait for its revision. */
  end(): readonly Effect[] {
    if (this.#changed) {
      this.revision++;
      this.#changed = false;
    }
    const effects = this.#effects;
    for (const at of this.#held) {
      const effect = effects[at];
      switch (effect?.kind) {
        case "sendTask":
        case "publish":
        case "ask":
        case "finish":
          effects[at] = { ...effect, afterRevision: this.revision };
          break;
        default:
          break;
      }
    }
    this.#effects = [];
    this.#held = [];
    return effects;
  }
}

/** Graph order, so that decisions do not depend on the order of discovery. */
function byPlace(a: RuntimeNode, b: RuntimeNode): boolean {
  return a.order < b.order;
}

/**
 * Nested graphs before the one that contains them: a nested graph that fails in the same observation as its parent has
 * failed by itself, and is not shown as aborted.
 */
function innerFirst(a: Scope, b: Scope): boolean {
  if (a.level !== b.level) return a.level > b.level;
  return (a.owner?.order ?? "") < (b.owner?.order ?? "");
}

/** True when a node has started and not ended, according to its status. */
export function inFlight(status: NodeStatus): boolean {
  switch (status.phase) {
    case NodePhase.Queued:
    case NodePhase.Running:
    case NodePhase.Failing:
    case NodePhase.Succeeding:
    case NodePhase.RetryableFailure:
    case NodePhase.TimingOut:
    case NodePhase.DynamicRunning:
      return true;
    default:
      return false;
  }
}
