import { nodeUniqueId, type ParentNode } from "@flyte-ts/domain/name";
import { isTerminalNode, NodePhase } from "@flyte-ts/domain/phase";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { GraphModel, NodeModel, WorkflowModel } from "@flyte-ts/workflow-crd";
import type { ExecutionErrorJson, NodeStatus } from "@flyte-ts/workflow-crd/status";
import { itemIndex } from "../array/items.js";
import type { ArrayState } from "../array/array-state.js";
import { attemptDir, childNodeDir, inputsUri, itemInputsUri, topNodeDir } from "./paths.js";
import type { PendingCalls } from "../calls/pending-call.js";
import type { PriorNode } from "../calls/recovery.js";
import type { NodeCache } from "./node-cache.js";
import type { FailurePolicy } from "./failure-policy.js";
import { END_NODE, START_NODE, type GraphIndex } from "./index-graph.js";

/** Status of a node that has not started: the resource has no entry for it. */
export const NOT_STARTED: NodeStatus = Object.freeze({ phase: NodePhase.NotYetStarted });

/**
 * `running`: nodes start when ready. `aborting`: no node starts, running ones are being aborted.
 * `handlingFailure`: all have ended, the failure node runs. `done`: decided.
 */
export type ScopeStage = "running" | "aborting" | "handlingFailure" | "done";

/**
 * Definitions that the nodes of a graph refer to: those of the resource, or of a dynamic node's
 * spec.
 */
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
  stage: ScopeStage = "running";
  /** Reachable nodes that have not ended. */
  openNodes = 0;
  /** Nodes that have started and not ended, including the failure node. */
  activeNodes = 0;
  hasFailure = false;
  /** The last started node to end has failed. */
  lastEndedFailed = false;
  /** No node can start any more after a failure; their dependents publish nothing. */
  blockedByFailure = false;
  /** Reason for aborting its nodes. */
  abortReason = "";
  /** Inputs of the graph, when they differ from those of its owner or of the workflow. */
  inputs: LiteralMap | undefined;
  /**
   * Error of the failing graph; undefined while it is not failing, or when its parent aborts it.
   */
  error: ExecutionErrorJson | undefined;
  /** Id of the node that caused `error`. */
  failedNodeId = "";
  failureNode: RuntimeNode | undefined;
  /**
   * Set when the nodes are the items of an array node; they are created when they start, and have
   * no dependencies.
   */
  array: ArrayState | undefined;

  readonly index: GraphIndex;
  readonly owner: RuntimeNode | undefined;
  readonly policy: FailurePolicy;
  readonly definitions: Definitions;
  /** Nesting depth. */
  readonly depth: number;
  readonly #executionDir: string;

  constructor({ index, owner, policy, definitions, executionDir }: ScopeFacts) {
    this.index = index;
    this.owner = owner;
    this.policy = policy;
    this.definitions = definitions;
    this.depth = owner === undefined ? 0 : owner.scope.depth + 1;
    this.#executionDir = executionDir;
  }

  get graph(): GraphModel {
    return this.index.graph;
  }

  /** The graph has no path from its start to its end. */
  get isInvalid(): boolean {
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
export interface TaskRequestState {
  desired: DesiredState;
  /** Time of the last send, ms. */
  sentAt: number;
  /** Time of the last new report of the plugin service, ms. */
  lastEventAt: number;
  /** Number of sends without news in between. */
  sendCount: number;
}

export interface UncommittedSuccess {
  /** Also kept by value, if small enough; undefined when only their location is known. */
  readonly value: LiteralMap | undefined;
  readonly deckUri: string;
  readonly uri: string;
  /** Stored at `uri` once the node's `pendingWrites` are done; else they exist only here. */
  readonly stored: boolean;
}

/**
 * A node of a running workflow. Its status is immutable and replaced, so that it can be compared
 * with the written one.
 */
export class RuntimeNode {
  status: NodeStatus = NOT_STARTED;
  /** Status in the resource, as of the last taken patch. */
  persistedStatus: NodeStatus = NOT_STARTED;
  /** Scope whose node statuses the resource holds below this node. */
  persistedChildScope: Scope | undefined;

  // Dependency counts, updated with every end of an upstream node.
  /** Upstream nodes that have not ended. */
  pendingUpstream = 0;
  /** Upstream nodes that ended without success. */
  unsuccessfulUpstream = 0;

  /** Started: holds its slot, counts as live. */
  started = false;
  /** Ended, possibly without a terminal phase when it was aborted. */
  ended = false;
  /** Observation in which it became ready; later starts wait for the status to be durable. */
  readyAtObservation = -1;
  /** In the queue of nodes to reconcile. */
  inNodeQueue = false;
  /** In the queue of nodes that wait for capacity. */
  inStartQueue = false;
  /** Counts against the parallelism limit. */
  holdsSlot = false;

  /** The current attempt produced a graph, which runs or ran below it. */
  hasDynamicGraph = false;
  /** Deck location of the attempt that produced it; in memory only. */
  deckUri = "";
  /** Scope below the node while it runs. */
  childScope: Scope | undefined;
  inputs: LiteralMap | undefined;
  /** The inputs are in the blob store. */
  inputsInBlobStore = false;
  /** An item that selects its inputs from the array's own. */
  readsArrayInputs = false;
  /** Outputs by value, while consumers may need them. */
  outputs: LiteralMap | undefined;
  /** Consumers that have not ended. */
  consumers = 0;
  /** Blobs that it waits for. */
  pendingReads: Set<string> | undefined;
  /** Pending calls. */
  pendingCalls: PendingCalls | undefined;
  /** Cache state, once known. */
  cache: NodeCache | undefined;
  /** The node's outcome in the recovered execution was requested. */
  recoveryChecked = false;
  /** Outcome in the recovered execution, when it is reused. */
  recoveredFrom: PriorNode | undefined;
  /** Checkpoint location of the failed node in the recovered execution. */
  priorCheckpointUri: string | undefined;
  /** Blobs being written before the node continues. */
  pendingWrites: Set<string> | undefined;
  /** A success that waits until its outputs are written. */
  uncommittedSuccess: UncommittedSuccess | undefined;

  taskRequest: TaskRequestState | undefined;
  /**
   * Child execution of the current attempt: requested, possibly without a response, or known to
   * exist and not known to have ended.
   */
  childState: "none" | "requested" | "exists" = "none";
  /** The current attempt has, or had, a child execution; for events. */
  hasChildExecution = false;
  /** Reason of its abort; undefined while it is not being aborted. */
  abortReason: string | undefined;
  /**
   * The attempt ran when this process loaded the workflow: a later step may have started without
   * being written.
   */
  maybeAheadOfStatus = false;
  /**
   * It may have succeeded before this process loaded the workflow, and dependents may have started.
   */
  maybeSucceeded = false;
  /**
   * It became ready by the end of such a node and could not start at once: it may have started
   * before the restart.
   */
  maybeStarted = false;
  /** Time of the last abort sent in reply to a report of an ended attempt, ms. */
  zombieAbortedAt = 0;

  /** ms; exact while this process lives, else read from the status. */
  queuedAt: number | undefined;
  attemptStartedAt: number | undefined;
  /** Time since which the attempt is reported as waiting for a plugin service, ms. */
  blockedSince: number | undefined;
  /** Time at which a sleeping gate opens, ms. */
  gateOpensAt: number | undefined;
  endedAt: number | undefined;
  /** Time at which the current attempt superseded the last one, ms. */
  supersededAt: number | undefined;
  /** Reported end of the last ended attempt, ms, by the plugin service's clock. */
  terminalReportedAt: number | undefined;

  #uniqueId: string | undefined;
  #uniqueIdAttempt = -1;

  constructor(
    readonly model: NodeModel,
    readonly scope: Scope,
    /** Branch of which it is an arm. */
    readonly branch: RuntimeNode | undefined,
    /** Sort key: position in its graphs, outermost first. */
    readonly topologicalKey: string,
  ) {}

  /** Resets the node to its initial state: for an arm whose branch starts again. */
  reset(): void {
    this.started = false;
    this.ended = false;
    this.cache = undefined;
    this.recoveryChecked = false;
    this.readyAtObservation = -1;
    this.childState = "none";
    this.hasChildExecution = false;
    this.hasDynamicGraph = false;
    this.deckUri = "";
    this.maybeAheadOfStatus = false;
    this.maybeSucceeded = false;
    this.maybeStarted = false;
    this.queuedAt = undefined;
    this.attemptStartedAt = undefined;
    this.blockedSince = undefined;
    this.gateOpensAt = undefined;
    this.endedAt = undefined;
    this.supersededAt = undefined;
    this.terminalReportedAt = undefined;
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
    if (this.#uniqueId === undefined || this.#uniqueIdAttempt !== parentAttempt) {
      this.#uniqueId = nodeUniqueId({ parent: this.parentRef, nodeId: this.model.id });
      this.#uniqueIdAttempt = parentAttempt;
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
    return this.readsArrayInputs ? owner.inputsUri : itemInputsUri(owner.dataDir, itemIndex(this.id));
  }

  get attemptDir(): string {
    return attemptDir(this.dataDir, this.attempt);
  }

  get isTerminal(): boolean {
    return isTerminalNode(this.status.phase);
  }

  get hasSucceeded(): boolean {
    return this.status.phase === NodePhase.Succeeded || this.status.phase === NodePhase.Recovered;
  }

  get hasFailed(): boolean {
    return this.status.phase === NodePhase.Failed || this.status.phase === NodePhase.TimedOut;
  }
}

/** Number of dynamic nodes above a graph. */
export function dynamicDepthOf(scope: Scope): number {
  let depth = 0;
  for (let { owner } = scope; owner !== undefined; owner = owner.scope.owner) if (owner.hasDynamicGraph) depth++;
  return depth;
}
