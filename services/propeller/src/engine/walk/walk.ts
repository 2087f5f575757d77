import { NodePhase } from "@flyte-ts/domain";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { NodeStatus, WorkflowModel, WorkflowStatus } from "@flyte-ts/workflow-crd";
import type { Asked } from "../ask/asked.js";
import type { EngineConfig } from "../config.js";
import { executionDataDir } from "../data/paths.js";
import { ErrorBudget } from "../failure/error-budget.js";
import { Heap } from "@flyte-ts/heap";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { Hindrances } from "../notice/hindrances.js";
import { NO_PLUGINS_KNOWN, type PluginsKnown } from "../plugin/known.js";
import type { StatusSlices } from "../status/status-slices.js";
import { TimerHeap } from "../time/timer-heap.js";
import type { Effect, EngineMetric, Note } from "../types.js";
import type { BlobReads } from "./blob-reads.js";
import { EventMint } from "./event-mint.js";

/** `held`: only once the status as of the end of this observation is durable. */
export type Release = "now" | "held";

/** Fields of the workflow's own status, without its nodes. */
export type OwnStatus = Omit<WorkflowStatus, "nodeStatus" | "slices" | "nodeCounts">;

/** A timer is for a node, a blob or the workflow itself. */
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
 * All that one running workflow is, and the steps that every part of the walk takes:
 * change a status, tell an event, put something on the list of what to look at. The
 * parts themselves are the functions in this folder.
 */
export class Walk {
  /** ms; of the observation at hand. */
  now = 0;
  /** Counts observations. */
  seq = 0;
  /** The observation that this one is, or goes on with: what it made ready may go ahead, what has become ready since may not. */
  #origin = 0;
  /** Nodes that this observation makes ready may start before it is durable: an attempt's success did it, and tells itself again. */
  prompt = false;
  /** What this observation makes ready may have begun before a restart, see RuntimeNode.unconfirmed. */
  doubt = false;
  root!: Scope;
  status: OwnStatus;
  writtenStatus: OwnStatus;
  revision = 0;
  /** Revision that the last patch brought the resource to. */
  takenRevision = 0;

  /** Nodes and graphs to look at before the observation is done. */
  readonly work = new Heap<RuntimeNode>(byPlace);
  readonly #scopes = new Heap<Scope>(innerFirst);
  readonly #scopesToStep = new Set<Scope>();
  /** Arrays with news of their items. */
  readonly news = new Set<Scope>();
  /** Nodes whose timers are to be set anew. */
  readonly armed = new Set<RuntimeNode>();
  readonly dirty = new Set<RuntimeNode>();
  /** Statuses of the nodes when they are too large for the resource; undefined while they stand in it. */
  slices: StatusSlices | undefined;
  /** Bytes, about and at most, of the statuses in the resource. */
  inlineBytes = 0;
  /** Ready task nodes without a slot, in the order of their places in the graph. */
  readonly waiting = new Heap<RuntimeNode>(byPlace);
  /** Items of arrays that their arrays let begin. */
  readonly starting = new Heap<RuntimeNode>(byPlace);
  /** So many began with one observation that the others wait for an observation `room`, see `startsPerRound`. */
  crowded = false;
  /** Nodes and items of all graphs that have been entered and not been left. */
  instances = 0;
  slotsUsed = 0;
  activeNodes = 0;
  /** Nodes whose outputs the status holds by value. */
  readonly retained = new Map<RuntimeNode, number>();
  retainedBytes = 0;
  /** Bytes of outputs that the status holds by value for the record alone. */
  keptBytes = 0;
  /** Nodes below others that have ended, whose statuses are kept for the record. */
  keptNodes = 0;
  readonly timers = new TimerHeap<TimerSubject>();
  readonly workflowTimer: WorkflowTimer = { workflow: true };
  blobs!: BlobReads;
  plugins: PluginsKnown = NO_PLUGINS_KNOWN;
  readonly errors = new ErrorBudget();
  readonly hindrances = new Hindrances();
  /** What the status says is in the way may not have been told. */
  noticeUntold = false;
  readonly writes = new Map<string, PendingWrite>();
  /** Questions that are to be answered, by their ids. */
  readonly asked = new Map<string, { readonly node: RuntimeNode; readonly asked: Asked }>();
  /** Who waits for admin's word, by what it names. */
  readonly listening = new Map<string, Set<RuntimeNode>>();
  readonly blobTimers = new Map<string, BlobTimer>();

  /** Tests: what becomes ready is found by walking the whole graph, never by counting. */
  fullWalks = false;
  /** Tests: a planted mistake, what may have begun before a restart is not stopped. */
  forgetsFollowers = false;
  /** Tests: a planted mistake, what may have begun before the status said so is not stopped. */
  forgetsStarts = false;
  /** Tests: a planted mistake, a child that may not be there yet is not stopped. */
  forgetsChildren = false;
  /** Tests: a planted mistake, arrays begin one item too many. */
  crowdsArrays = false;
  /** Tests: a planted mistake, outputs go with their last consumer. */
  forgetsOutputs = false;
  /** Tests: a planted mistake, what stands below a node goes with its end. */
  forgetsBelow = false;
  /** Tests: a planted mistake, items take nothing of the inputs of their array. */
  forgetsItems = false;
  /** Tests: something ended, so a full walk may find more. */
  scanAgain = false;

  /** The resource says that the workflow runs, or nobody else can know better: `prompt` effects need not wait for it. */
  goesAhead = false;
  startRevision = 0;
  /** Why everything is stopped from outside; undefined while it is not. */
  aborting: string | undefined;
  /** Admin refuses the execution's events, so nobody will record its end. */
  refused = false;
  /** ms; when the workflow ended, if this process saw it. */
  endedAt: number | undefined;
  republished = 0;
  republishAt: number | undefined;
  /** The end is recorded: labels and finalizer are to be changed. */
  finishing: "no" | "asked" | "taken" = "no";

  /** This observation goes on with what another has left; nothing that it makes ready is known to follow from itself alone. */
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

  /** The task that the node's task executions name: of an array, that of its items. */
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

  /** Has a blob written; the node goes on when all of its `writes` are done. */
  writeBlob(node: RuntimeNode, uri: string, literals: LiteralMap): void {
    this.writes.set(uri, { node, literals, tries: 0, retryAt: undefined });
    this.emit({ kind: "writeOutputs", uri, outputs: literals });
  }

  /** Nobody waits for the node's blobs any more. */
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

  /** Never given twice, so that an answer to an earlier run's question is told from one to this run's. */
  nextAskId(): string {
    return `${this.#startedAt.toString(36)}-${this.#asks++}`;
  }

  // What to look at

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

  /** The next graph to look at as a whole. */
  takeScope(): Scope | undefined {
    for (let scope = this.#scopes.pop(); scope !== undefined; scope = this.#scopes.pop()) {
      if (this.#scopesToStep.delete(scope)) return scope;
    }
    return undefined;
  }

  /** Something is left to look at. */
  get hasWork(): boolean {
    return this.work.size + this.#scopesToStep.size > 0;
  }

  /** The graph is left behind. */
  forgetScope(scope: Scope): void {
    this.#scopesToStep.delete(scope);
  }

  // One observation

  /** `goesOn`: what the one before made ready may go ahead of the status as if it began there. */
  begin(now: number, goesOn: boolean): void {
    // A clock that steps back must not make phases begin before others that came first.
    this.now = Math.max(this.now, now);
    this.seq++;
    // What was left to look at is as doubtful as when it was found.
    this.doubt &&= this.hasWork;
    if (goesOn) return;
    this.#takesOver = this.hasWork;
    this.#origin = this.seq;
    this.prompt = false;
  }

  /**
   * What follows at once from an attempt's success may go ahead of the status: the attempt tells its success again,
   * and the same follows. So may what follows at once from the beginning of what nobody has begun: as long as the
   * resource says that the workflow is new, it begins again the same way. Everything else waits.
   */
  releaseOf(node: RuntimeNode): Release {
    return this.goesAhead && this.prompt && !this.#takesOver && node.readySeq === this.#origin ? "now" : "held";
  }

  /** What the observation makes of the node may be there already. A failure node never goes ahead of the status. */
  doubts(node: RuntimeNode): boolean {
    return this.doubt && node !== node.scope.failureNode;
  }

  /** Gives the observation's effects out; those that are held wait for the revision that it made. */
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

/** By place in the graph, so that what is decided does not depend on the order in which things were found out. */
function byPlace(a: RuntimeNode, b: RuntimeNode): boolean {
  return a.order < b.order;
}

/**
 * A graph before the one that it stands in, as a walk down the graph meets them: what fails in the same
 * instant as its surroundings has failed by itself, and is not shown as stopped.
 */
function innerFirst(a: Scope, b: Scope): boolean {
  if (a.level !== b.level) return a.level > b.level;
  return (a.owner?.order ?? "") < (b.owner?.order ?? "");
}

/** Whether a node is between its beginning and its end, as its status tells. */
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
