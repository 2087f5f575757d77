import { nodeUniqueId, type ParentNode } from "@flyte-ts/domain/name";
import { isTerminalNode, NodePhase } from "@flyte-ts/domain/phase";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { GraphModel, NodeModel, WorkflowModel } from "@flyte-ts/workflow-crd";
import type { ExecutionErrorJson, NodeStatus } from "@flyte-ts/workflow-crd/status";
import { itemIndex } from "../array/items.js";
import type { ArrayState } from "../array/array-state.js";
import { attemptDir, childNodeDir, inputsUri, itemInputsUri, topNodeDir } from "./paths.js";
import type { FailurePolicy } from "./failure-policy.js";
import { END_NODE, START_NODE, type GraphIndex } from "./index-graph.js";
import { NodeAttempt } from "./node-attempt.js";
import { NodeCalls } from "./node-calls.js";
import { NodeData } from "./node-data.js";
import { NodeGraph } from "./node-graph.js";
import { NodeLifecycle } from "./node-lifecycle.js";
import { NodeReadiness } from "./node-readiness.js";

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

// Records of nodes without their own; frozen, so that a change cannot reach them.
const NO_ATTEMPT = Object.freeze(new NodeAttempt());
const NO_DATA = Object.freeze(new NodeData());
const NO_CALLS = Object.freeze(new NodeCalls());
const NO_GRAPH = Object.freeze(new NodeGraph());

/** Position of a node in its graph. */
export interface NodePosition {
  readonly model: NodeModel;
  readonly scope: Scope;
  readonly branch: RuntimeNode | undefined;
  readonly topologicalKey: string;
  /** Number of upstream nodes. */
  readonly upstream?: number;
  /** Number of nodes that read its outputs. */
  readonly consumers?: number;
}

/**
 * A node of a running workflow. Its status is immutable and replaced, so that it can be compared
 * with the written one.
 */
export class RuntimeNode {
  readonly lifecycle: Readonly<NodeLifecycle> = new NodeLifecycle();
  readonly readiness: Readonly<NodeReadiness>;
  #status: NodeStatus = NOT_STARTED;
  #persistedStatus: NodeStatus = NOT_STARTED;
  // Created with their first change: most nodes of a large graph have not started, or have ended.
  #attempt: NodeAttempt | undefined;
  #data: NodeData | undefined;
  #calls: NodeCalls | undefined;
  #graph: NodeGraph | undefined;
  #uniqueId: string | undefined;
  #uniqueIdAttempt = -1;

  readonly model: NodeModel;
  readonly scope: Scope;
  /** Branch of which the node is an arm. */
  readonly branch: RuntimeNode | undefined;
  /** Sort key: position in its graphs, outermost first. */
  readonly topologicalKey: string;

  constructor({ model, scope, branch, topologicalKey, upstream = 0, consumers = 0 }: NodePosition) {
    this.model = model;
    this.scope = scope;
    this.branch = branch;
    this.topologicalKey = topologicalKey;
    this.readiness = new NodeReadiness(upstream, consumers);
  }

  get status(): NodeStatus {
    return this.#status;
  }

  setStatus(status: NodeStatus): void {
    this.#status = status;
  }

  /** Status in the resource, as of the last taken patch. */
  get persistedStatus(): NodeStatus {
    return this.#persistedStatus;
  }

  setPersistedStatus(status: NodeStatus): void {
    this.#persistedStatus = status;
  }

  get currentAttempt(): Readonly<NodeAttempt> {
    return this.#attempt ?? NO_ATTEMPT;
  }

  /** Returns the record of the current attempt for changes; creates it before the first one. */
  changeAttempt(): Readonly<NodeAttempt> {
    this.#attempt ??= new NodeAttempt();
    return this.#attempt;
  }

  get data(): Readonly<NodeData> {
    return this.#data ?? NO_DATA;
  }

  /** Returns the record of inputs and outputs for changes; creates it before the first one. */
  changeData(): Readonly<NodeData> {
    this.#data ??= new NodeData();
    return this.#data;
  }

  get calls(): Readonly<NodeCalls> {
    return this.#calls ?? NO_CALLS;
  }

  /** Returns the record of calls for changes; creates it before the first one. */
  changeCalls(): Readonly<NodeCalls> {
    this.#calls ??= new NodeCalls();
    return this.#calls;
  }

  get graph(): Readonly<NodeGraph> {
    return this.#graph ?? NO_GRAPH;
  }

  /**
   * Returns the record of the graph below the node for changes; creates it before the first one.
   */
  changeGraph(): Readonly<NodeGraph> {
    this.#graph ??= new NodeGraph();
    return this.#graph;
  }

  /** Drops the state that only an unfinished node needs. */
  releaseAtEnd(): void {
    this.lifecycle.clearAbort();
    this.#attempt?.closeRequest();
    this.#data?.end();
    this.#calls?.end();
    if (this.#attempt?.isForgettable === true) this.#attempt = undefined;
    if (this.#data?.isEmpty === true) this.#data = undefined;
  }

  /** Drops the outputs kept by value. */
  releaseOutputs(): void {
    this.#data?.setOutputs(undefined);
    if (this.ended && this.#data?.isEmpty === true) this.#data = undefined;
  }

  /** Resets the node to its initial state: for an arm whose branch starts again. */
  reset(): void {
    this.lifecycle.reset();
    this.readiness.reset();
    this.#attempt?.reset();
    this.#calls?.reset();
    this.#graph?.resetDynamic();
  }

  get started(): boolean {
    return this.lifecycle.started;
  }

  get ended(): boolean {
    return this.lifecycle.ended;
  }

  get abortReason(): string | undefined {
    return this.lifecycle.abortReason;
  }

  /** Scope below the node while it runs. */
  get childScope(): Scope | undefined {
    return this.#graph?.scope;
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
    return this.data.readsArrayInputs ? owner.inputsUri : itemInputsUri(owner.dataDir, itemIndex(this.id));
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
  for (let { owner } = scope; owner !== undefined; owner = owner.scope.owner) if (owner.graph.isDynamic) depth++;
  return depth;
}
