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

/** Status of a node that has not started: the resource has no entry for it. */
export const NOT_BEGUN: NodeStatus = Object.freeze({ phase: NodePhase.NotYetStarted });

/**
 * `run`: nodes start when ready. `stop`: no node starts, running ones are being aborted. `handle`: all have ended, the
 * failure node runs. `done`: decided.
 */
export type ScopeStage = "run" | "stop" | "handle" | "done";

/** Definitions that the nodes of a graph refer to: those of the resource, or of a dynamic node's spec. */
export type Definitions = Pick<WorkflowModel, "tasks" | "subWorkflows">;

export interface ScopeFacts {
  readonly index: GraphIndex;
  /** Node whose graph this is; undefined for the workflow itself. */
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
  /** Reachable nodes that have not ended. */
  unsettled = 0;
  /** Nodes that have started and not ended, including the failure node. */
  live = 0;
  anyFailed = false;
  /** The last started node to end has failed. */
  lastEndFailed = false;
  /** No node can start any more after a failure; their dependents publish nothing. */
  exhausted = false;
  /** Reason for aborting its nodes. */
  stopReason = "";
  /** Inputs of the graph, when they differ from those of its owner or of the workflow. */
  inputs: LiteralMap | undefined;
  /** Error of the failing graph; undefined while it is not failing, or when its parent aborts it. */
  error: ExecutionErrorJson | undefined;
  /** Id of the node that caused `error`. */
  failedNode = "";
  failureNode: RuntimeNode | undefined;
  /** Set when the nodes are the items of an array node; they are created when they start, and have no dependencies. */
  array: ArrayRun | undefined;

  readonly index: GraphIndex;
  readonly owner: RuntimeNode | undefined;
  readonly policy: FailurePolicy;
  readonly definitions: Definitions;
  /** Nesting depth. */
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

  /** The graph has no path from its start to its end. */
  get broken(): boolean {
    return !this.index.order.has(START_NODE) || !this.index.order.has(END_NODE);
  }

  get pathPrefix(): string {
    return this.owner === undefined ? "" : `${this.owner.path}/`;
  }

  /** Data dir of a node that is not an arm. */
  dirOf(nodeId: string): string {
    if (this.array !== undefined && this.owner !== undefined) return childNodeDir(this.owner.attemptDir, String(itemIndex(nodeId)));
    return this.owner === undefined ? topNodeDir(this.#executionDir, nodeId) : childNodeDir(this.owner.attemptDir, nodeId);
  }
}

/** Request to the plugin service for the running attempt. */
export interface RequestState {
  desired: DesiredState;
  /** Time of the last send, ms. */
  sentAt: number;
  /** Time of the last new report of the plugin service, ms. */
  heardAt: number;
  /** Number of sends without news in between. */
  tries: number;
}

export interface PendingOutputs {
  /** Also kept by value, if small enough; undefined when only their location is known. */
  readonly value: LiteralMap | undefined;
  readonly deckUri: string;
  readonly uri: string;
  /** Stored at `uri` once the node's `writes` are done; else they exist only here. */
  readonly stored: boolean;
}

/** A node of a running workflow. Its status is immutable and replaced, so that it can be compared with the written one. */
export class RuntimeNode {
  status: NodeStatus = NOT_BEGUN;
  /** Status in the resource, as of the last taken patch. */
  written: NodeStatus = NOT_BEGUN;
  /** Scope whose node statuses the resource holds below this node. */
  innerWritten: Scope | undefined;

  // Dependency counts, updated with every end of an upstream node.
  /** Upstream nodes that have not ended. */
  unfinished = 0;
  /** Upstream nodes that ended without success. */
  spoiled = 0;

  /** Started: holds its slot, counts as live. */
  begun = false;
  /** Ended, possibly without a terminal phase when it was aborted. */
  settled = false;
  /** Observation in which it became ready; later starts wait for the status to be durable. */
  readySeq = -1;
  /** In the queue of nodes to reconcile. */
  queued = false;
  /** In the queue of nodes that wait for capacity. */
  waits = false;
  /** Counts against the parallelism limit. */
  slot = false;

  /** The current attempt produced a graph, which runs or ran below it. */
  expanded = false;
  /** Deck location of the attempt that produced it; in memory only. */
  deckUri = "";
  /** Scope below the node while it runs. */
  inner: Scope | undefined;
  inputs: LiteralMap | undefined;
  /** The inputs are in the blob store. */
  inputsWritten = false;
  /** An item that selects its inputs from the array's own. */
  sharesInputs = false;
  /** Outputs by value, while consumers may need them. */
  outputs: LiteralMap | undefined;
  /** Consumers that have not ended. */
  consumers = 0;
  /** Blobs that it waits for. */
  waitingFor: Set<string> | undefined;
  /** Pending calls. */
  asks: NodeAsks | undefined;
  /** Cache state, once known. */
  cache: NodeCache | undefined;
  /** The node's outcome in the recovered execution was requested. */
  lookedBack = false;
  /** Outcome in the recovered execution, when it is reused. */
  recovered: FormerNode | undefined;
  /** Checkpoint location of the failed node in the recovered execution. */
  formerCheckpoint: string | undefined;
  /** Blobs being written before the node continues. */
  writes: Set<string> | undefined;
  /** A success that waits until its outputs are written. */
  pendingOutputs: PendingOutputs | undefined;

  request: RequestState | undefined;
  /** Child execution of the current attempt: requested, possibly without a response, or known to exist and not known to have ended. */
  child: "none" | "asked" | "made" = "none";
  /** The current attempt has, or had, a child execution; for events. */
  launched = false;
  /** Reason of its abort; undefined while it is not being aborted. */
  stopping: string | undefined;
  /** The attempt ran when this process loaded the workflow: a later step may have started without being written. */
  unconfirmed = false;
  /** It may have succeeded before this process loaded the workflow, and dependents may have started. */
  presumed = false;
  /** It became ready by the end of such a node and could not start at once: it may have started before the restart. */
  maybeBegun = false;
  /** Time of the last abort sent in reply to a report of an ended attempt, ms. */
  zombieAt = 0;

  /** ms; exact while this process lives, else read from the status. */
  queuedAt: number | undefined;
  attemptStartedAt: number | undefined;
  /** Time since which the attempt is reported as waiting for a plugin service, ms. */
  waitingSince: number | undefined;
  /** Time at which a sleeping gate opens, ms. */
  sleepsUntil: number | undefined;
  endedAt: number | undefined;
  /** Time at which the current attempt superseded the last one, ms. */
  retriedAt: number | undefined;
  /** Reported end of the last ended attempt, ms, by the plugin service's clock. */
  endToldAt: number | undefined;

  #uniqueId: string | undefined;
  #uniqueFor = -1;

  constructor(
    readonly model: NodeModel,
    readonly scope: Scope,
    /** Branch of which it is an arm. */
    readonly branch: RuntimeNode | undefined,
    /** Sort key: position in its graphs, outermost first. */
    readonly order: string,
  ) {}

  /** Resets the node to its initial state: for an arm whose branch starts again. */
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

  /** Ids from the root, joined with `/`. */
  get path(): string {
    return this.scope.pathPrefix + this.model.id;
  }

  /** From 0. */
  get attempt(): number {
    return this.status.attempts ?? 0;
  }

  /** Node below which this one runs, for ids and events. */
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

  /** Location of the inputs, if they are in the blob store. */
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

/** Number of dynamic nodes above a graph. */
export function depthOf(scope: Scope): number {
  let depth = 0;
  for (let { owner } = scope; owner !== undefined; owner = owner.scope.owner) if (owner.expanded) depth++;
  return depth;
}
