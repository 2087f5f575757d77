import { NodePhase, isTerminalNode, nodeUniqueId, type ParentNode } from "@flyte-ts/domain";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ExecutionErrorJson, GraphModel, NodeModel, NodeStatus, WorkflowModel } from "@flyte-ts/workflow-crd";
import { itemIndex } from "../array/items.js";
import type { ArrayRun } from "../array/run.js";
import { attemptDir, childNodeDir, inputsUri, itemInputsUri, topNodeDir } from "../data/paths.js";
import type { NodeAsks } from "../ask/asked.js";
import type { FormerNode } from "../recovery/questions.js";
import type { NodeCache } from "../cache/state.js";
import type { FailurePolicy } from "../failure/policy.js";
import { END_NODE, START_NODE, type GraphIndex } from "./index-graph.js";

/** Status of a node that has not begun: nothing stands in the resource for it. */
export const NOT_BEGUN: NodeStatus = Object.freeze({ phase: NodePhase.NotYetStarted });

/**
 * `run`: nodes begin as they become ready. `stop`: nothing begins, what runs is being
 * stopped. `handle`: all has stopped, the failure node runs. `done`: decided.
 */
export type ScopeStage = "run" | "stop" | "handle" | "done";

/** What the nodes of a graph may name: those of the resource, or of what a dynamic node made. */
export type Definitions = Pick<WorkflowModel, "tasks" | "subWorkflows">;

export interface ScopeFacts {
  readonly index: GraphIndex;
  /** The node whose graph it is, and undefined for the workflow itself. */
  readonly owner: RuntimeNode | undefined;
  readonly policy: FailurePolicy;
  readonly definitions: Definitions;
  /** Data dir of the execution. */
  readonly executionDir: string;
}

/** One instance of a graph: the workflow itself, or an attempt of a sub-workflow node. */
export class Scope {
  readonly nodes = new Map<string, RuntimeNode>();
  stage: ScopeStage = "run";
  /** Nodes that can be reached and have not ended. */
  unsettled = 0;
  /** Nodes that have begun and not ended, the failure node among them. */
  live = 0;
  anyFailed = false;
  /** What ended last of what had begun has failed. */
  lastEndFailed = false;
  /** Nothing can begin any more after a failure; what waited for it is not told of. */
  exhausted = false;
  /** Why its nodes are stopped. */
  stopReason = "";
  /** The graph's inputs, when they are not those of its owner or of the workflow. */
  inputs: LiteralMap | undefined;
  /** Why the graph fails; undefined while it does not, or when it is stopped from above. */
  error: ExecutionErrorJson | undefined;
  /** Id of the node behind `error`. */
  failedNode = "";
  failureNode: RuntimeNode | undefined;
  /** Set when the nodes are the items of an array node; they are made when they begin, and wait for nothing. */
  array: ArrayRun | undefined;

  readonly index: GraphIndex;
  readonly owner: RuntimeNode | undefined;
  readonly policy: FailurePolicy;
  readonly definitions: Definitions;
  /** How many graphs it stands in. */
  readonly level: number;
  readonly #executionDir: string;

  constructor({ index, owner, policy, definitions, executionDir }: ScopeFacts) {
    this.index = index;
    this.owner = owner;
    this.policy = policy;
    this.definitions = definitions;
    this.level = owner === undefined ? 0 : owner.scope.level + 1;
    this.#executionDir = executionDir;
  }

  get graph(): GraphModel {
    return this.index.graph;
  }

  /** The graph has no way from its start to its end. */
  get broken(): boolean {
    return !this.index.order.has(START_NODE) || !this.index.order.has(END_NODE);
  }

  get pathPrefix(): string {
    return this.owner === undefined ? "" : `${this.owner.path}/`;
  }

  /** Data dir of a node that is no arm. */
  dirOf(nodeId: string): string {
    if (this.array !== undefined && this.owner !== undefined) return childNodeDir(this.owner.attemptDir, String(itemIndex(nodeId)));
    return this.owner === undefined ? topNodeDir(this.#executionDir, nodeId) : childNodeDir(this.owner.attemptDir, nodeId);
  }
}

/** What was asked of the plugin service for the running attempt. */
export interface RequestState {
  desired: DesiredState;
  /** ms; when it was sent last. */
  sentAt: number;
  /** ms; when the plugin service last told something new. */
  heardAt: number;
  /** How often it was sent without news in between. */
  tries: number;
}

export interface PendingOutputs {
  /** Kept by value too, where it fits; undefined when they are known by their place only. */
  readonly value: LiteralMap | undefined;
  readonly deckUri: string;
  readonly uri: string;
  /** They stand at `uri`, once the node's `writes` are done. Else they stand nowhere but here. */
  readonly stored: boolean;
}

/** A node of a running workflow. Its status is replaced, never changed, so that what was written can be compared. */
export class RuntimeNode {
  status: NodeStatus = NOT_BEGUN;
  /** What the resource holds, as far as patches were taken. */
  written: NodeStatus = NOT_BEGUN;
  /** The resource holds statuses of nodes below this one. */
  innerWritten: Scope | undefined;

  // What it waits for: kept up to date with every end of an upstream node.
  /** Upstream nodes that have not ended. */
  unfinished = 0;
  /** Upstream nodes that ended otherwise than well. */
  spoiled = 0;

  /** Began: holds its slot, counts as live. */
  begun = false;
  /** Ended, be it without a terminal phase when it was stopped. */
  settled = false;
  /** Observation at which it became ready; later starts wait for the status to be durable. */
  readySeq = -1;
  /** On the list of what to look at. */
  queued = false;
  /** On the list of those that wait for room. */
  waits = false;
  /** Counts against the parallelism limit. */
  slot = false;

  /** The present attempt made a graph, which runs or ran below it. */
  expanded = false;
  /** Where the attempt that made it has its deck, while this process lives. */
  deckUri = "";
  /** Instance of a graph below the node while it runs. */
  inner: Scope | undefined;
  inputs: LiteralMap | undefined;
  /** The inputs stand in the blob store. */
  inputsWritten = false;
  /** An item that takes its inputs out of the array's own. */
  sharesInputs = false;
  /** Outputs by value, while somebody may need them. */
  outputs: LiteralMap | undefined;
  /** Consumers that have not ended. */
  consumers = 0;
  /** Blobs that it waits for. */
  waitingFor: Set<string> | undefined;
  /** Questions that it has asked. */
  asks: NodeAsks | undefined;
  /** How its outputs are cached, once that is known. */
  cache: NodeCache | undefined;
  /** Whether its former self in the execution that is recovered was asked for. */
  lookedBack = false;
  /** How it came out there, when that stands for it now. */
  recovered: FormerNode | undefined;
  /** Where its former self, which failed, left checkpoints. */
  formerCheckpoint: string | undefined;
  /** Blobs that are being written before the node goes on. */
  writes: Set<string> | undefined;
  /** A success that waits for its outputs to be written. */
  pendingOutputs: PendingOutputs | undefined;

  request: RequestState | undefined;
  /** The child execution of the present attempt: asked for, perhaps without an answer, or known to be there and not known to have ended. */
  child: "none" | "asked" | "made" = "none";
  /** The present attempt has, or had, a child execution, for events to name. */
  launched = false;
  /** Why it is being stopped; undefined while it is not. */
  stopping: string | undefined;
  /** The attempt ran when this process loaded the workflow: a later process step may have begun without being written. */
  unconfirmed = false;
  /** It may have come to a good end before this process loaded the workflow, and others may have followed. */
  presumed = false;
  /** It became ready by such a node's end and could not begin at once: before the restart it may have. */
  maybeBegun = false;
  /** ms; when a sign of life of an attempt that is over was last answered. */
  zombieAt = 0;

  /** ms, exact while this process lives, else read from the status. */
  queuedAt: number | undefined;
  attemptStartedAt: number | undefined;
  /** ms; since when the attempt is shown to wait for a plugin service. */
  waitingSince: number | undefined;
  /** Until when a gate sleeps. */
  sleepsUntil: number | undefined;
  endedAt: number | undefined;
  /** ms; when the last attempt gave way to the present one. */
  retriedAt: number | undefined;
  /** ms, by the clock of the plugin service; when the end of the last ended attempt was told. */
  endToldAt: number | undefined;

  #uniqueId: string | undefined;
  #uniqueFor = -1;

  constructor(
    readonly model: NodeModel,
    readonly scope: Scope,
    /** The branch whose arm it is. */
    readonly branch: RuntimeNode | undefined,
    /** Sorts nodes by place in their graphs, from the outermost. */
    readonly order: string,
  ) {}

  /** As if it had never begun: for an arm whose branch begins anew. */
  reset(): void {
    this.begun = false;
    this.settled = false;
    this.cache = undefined;
    this.lookedBack = false;
    this.readySeq = -1;
    this.child = "none";
    this.launched = false;
    this.expanded = false;
    this.deckUri = "";
    this.unconfirmed = false;
    this.presumed = false;
    this.maybeBegun = false;
    this.queuedAt = undefined;
    this.attemptStartedAt = undefined;
    this.waitingSince = undefined;
    this.sleepsUntil = undefined;
    this.endedAt = undefined;
    this.retriedAt = undefined;
    this.endToldAt = undefined;
  }

  get id(): string {
    return this.model.id;
  }

  /** Ids from the top, joined with `/`. */
  get path(): string {
    return this.scope.pathPrefix + this.model.id;
  }

  /** From 0. */
  get attempt(): number {
    return this.status.attempts ?? 0;
  }

  /** The node under which this one runs, for ids and events. */
  get parent(): RuntimeNode | undefined {
    return this.branch ?? this.scope.owner;
  }

  get parentRef(): ParentNode | undefined {
    const parent = this.parent;
    return parent === undefined ? undefined : { uniqueId: parent.uniqueId, attempt: parent.attempt };
  }

  /** `node_id` of events. */
  get uniqueId(): string {
    const parentAttempt = this.branch?.attempt ?? 0;
    if (this.#uniqueId === undefined || this.#uniqueFor !== parentAttempt) {
      this.#uniqueId = nodeUniqueId({ parent: this.parentRef, nodeId: this.model.id });
      this.#uniqueFor = parentAttempt;
    }
    return this.#uniqueId;
  }

  get dataDir(): string {
    return this.branch === undefined ? this.scope.dirOf(this.model.id) : childNodeDir(this.branch.attemptDir, this.model.id);
  }

  /** Where the inputs stand when they stand in the blob store. */
  get inputsUri(): string {
    const { array, owner } = this.scope;
    if (array === undefined || owner === undefined) return inputsUri(this.dataDir);
    return this.sharesInputs ? owner.inputsUri : itemInputsUri(owner.dataDir, itemIndex(this.id));
  }

  get attemptDir(): string {
    return attemptDir(this.dataDir, this.attempt);
  }

  get terminal(): boolean {
    return isTerminalNode(this.status.phase);
  }

  get succeeded(): boolean {
    return this.status.phase === NodePhase.Succeeded || this.status.phase === NodePhase.Recovered;
  }

  get failed(): boolean {
    return this.status.phase === NodePhase.Failed || this.status.phase === NodePhase.TimedOut;
  }
}

/** How many dynamic nodes a graph stands below. */
export function depthOf(scope: Scope): number {
  let depth = 0;
  for (let { owner } = scope; owner !== undefined; owner = owner.scope.owner) if (owner.expanded) depth++;
  return depth;
}
