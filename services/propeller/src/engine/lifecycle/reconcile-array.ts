import { NodePhase } from "@flyte-ts/domain/phase";
import type { GraphModel } from "@flyte-ts/workflow-crd";
import type { ArrayNodeStatus } from "@flyte-ts/workflow-crd/status";
import { packBits } from "../array/pack-bits.js";
import { concurrencyOf } from "../array/concurrency.js";
import { itemId, itemIndex, itemModel } from "../array/items.js";
import { ArrayState } from "../array/array-state.js";
import { decideArray } from "../array/success.js";
import { errorToPlain } from "../errors/error-json.js";
import { MAX_ERROR_MESSAGE, MAX_STATUS_MESSAGE, boundMessage } from "../errors/bound-message.js";
import type { GraphIndex } from "../graph/index-graph.js";
import { RuntimeNode, Scope } from "../graph/runtime.js";
import { budgetsOf } from "../policy/retry-budgets.js";
import { addInstances, sortKey } from "../state/scope.js";
import { enqueueStart } from "../state/scheduler.js";
import { abortScope } from "../abort/abort.js";
import type { RunState } from "../state/run-state.js";
import { failureErrorOf } from "../errors/timed-out.js";

// An array node runs a graph of items, each of which is a regular node. Items have no edges, so no
// dependencies are counted; they are created when they may start.

/** Abort reason shown on items when too many others have failed. */
const FAILING_REASON = "ArrayNodeFailing";

const NO_EDGES: ReadonlyMap<string, readonly string[]> = new Map();
const ITEM_GRAPH: GraphModel = {
  id: "",
  nodes: new Map(),
  upstream: NO_EDGES,
  downstream: NO_EDGES,
  outputs: { $typeName: "flyteidl.core.VariableMap", variables: {} },
  outputBindings: [],
  onFailure: undefined,
  onFailurePolicy: "FAIL_IMMEDIATELY",
};
const ITEM_INDEX: GraphIndex = {
  graph: ITEM_GRAPH,
  order: new Map(),
  upstream: NO_EDGES,
  dependents: NO_EDGES,
  branchOf: new Map(),
  consumers: new Map(),
  sources: NO_EDGES,
};

/** Creates the scope of the array below its node, with no item started. */
export function enterArrayScope(state: RunState, owner: RuntimeNode, size: number): Scope {
  const { target } = owner.model;
  if (target.kind !== "array") throw new Error(`node ${owner.id} is not an array node`);
  const { definitions, policy } = owner.scope;
  const scope = new Scope({ index: ITEM_INDEX, owner, policy, definitions, executionDir: state.dataDir });
  scope.array = new ArrayState({
    array: target.array,
    subNode: target.subNode,
    size,
    concurrency: concurrencyOf(target.array, state.config.arrayParallelism),
    template: target.subNode.target.kind === "task" ? definitions.tasks.get(target.subNode.target.task) : undefined,
  });
  scope.openNodes = size;
  addInstances(state, scope);
  owner.changeGraph().enter(scope);
  return scope;
}

/** Creates the node of an item. */
export function addItem(scope: Scope, array: ArrayState, index: number): RuntimeNode {
  const node = new RuntimeNode({
    model: itemModel(array.subNode, index),
    scope,
    branch: undefined,
    topologicalKey: (scope.owner?.topologicalKey ?? "") + sortKey(index),
  });
  scope.nodes.set(node.id, node);
  return node;
}

/**
 * Decides whether the array continues, fails or has ended; while it continues, starts items as
 * capacity permits.
 */
export function reconcileArray(state: RunState, scope: Scope, array: ArrayState): void {
  switch (decideArray(array, array.requiredSuccesses)) {
    case "run":
      startItems(state, scope, array);
      return;
    case "fail":
      failArray(state, scope, array);
      return;
    case "succeed":
      scope.stage = "done";
      // Later effects wait for the status: they do not follow from one item's success alone.
      state.observation.stopSpeculation();
      if (scope.owner !== undefined) state.queues.enqueueNode(scope.owner);
      return;
  }
}

function startItems(state: RunState, scope: Scope, array: ArrayState): void {
  for (let room = state.policy.itemCapacity(array, scope.activeNodes); room > 0 && array.nextIndex < array.size; array.nextIndex++) {
    if (scope.nodes.has(itemId(array.nextIndex))) continue;
    array.queued++;
    room--;
    enqueueStart(state, addItem(scope, array, array.nextIndex));
  }
}

function failArray(state: RunState, scope: Scope, array: ArrayState): void {
  const { owner } = scope;
  if (owner === undefined) return;
  scope.error = array.failures.error(MAX_ERROR_MESSAGE);
  state.status.setNode(owner, { ...owner.status, arrayNodeStatus: arrayStatus(state, scope, array, 2) });
  abortScope(state, scope, FAILING_REASON);
}

/** Counts the end of an item, and keeps the part of its status needed until the array's end. */
export function onItemEnded(state: RunState, node: RuntimeNode, array: ArrayState): void {
  if (!node.isTerminal) return;
  if (node.hasFailed) {
    array.failed++;
    recordItemFailure(state, node, array);
  } else array.succeeded++;
  if (array.reportsItemsAs === "nodes") return;
  const { stoppedAt: _, ...status } = node.status;
  state.status.setNode(node, status);
}

/** Counts an item of a restored array. */
export function restoreItemCount(node: RuntimeNode, array: ArrayState): void {
  if (node.hasFailed) {
    array.failed++;
    array.failures.add(itemIndex(node.id), failureErrorOf(node));
  } else if (node.isTerminal) array.succeeded++;
}

/**
 * Truncates texts that the array's own error does not include: thousands of stack traces do not fit
 * into a status.
 */
function recordItemFailure(state: RunState, node: RuntimeNode, array: ArrayState): void {
  const error = failureErrorOf(node);
  const known = array.failures.has(error.message);
  const kept = array.failures.add(itemIndex(node.id), error);
  if ((!known && kept) || error.message.length <= MAX_STATUS_MESSAGE) return;
  const short = { ...error, message: boundMessage(error.message, MAX_STATUS_MESSAGE) };
  state.status.setNode(node, { ...node.status, error: state.errors.replace(short, node.status.error) });
}

/** `arrayNodeStatus` in Go Flyte's format, from the items' current state. */
export function arrayStatus(state: RunState, scope: Scope, array: ArrayState, phase: number): ArrayNodeStatus {
  const attempts = new Uint32Array(array.size);
  const system = new Uint32Array(array.size);
  for (const node of scope.nodes.values()) {
    attempts[itemIndex(node.id)] = node.attempt;
    system[itemIndex(node.id)] = node.status.systemFailures ?? 0;
  }
  const { maxAttempts, maxSystemFailures } = budgetsOf(array.subNode, array.template, state.config);
  const { taskPhaseVersion } = scope.owner?.status.arrayNodeStatus ?? {};
  return {
    phase,
    ...(array.failures.any ? { executionError: errorToPlain(array.failures.error(MAX_ERROR_MESSAGE)) } : {}),
    subattempts: packBits(attempts, maxAttempts + maxSystemFailures),
    subsysfailures: packBits(system, maxSystemFailures),
    ...(taskPhaseVersion === undefined ? {} : { taskPhaseVersion }),
  };
}

/** Phases of `arrayNodeStatus`. */
export const ARRAY_EXECUTING = 1;
export const ARRAY_FAILING = 2;
const ARRAY_SUCCEEDING = 3;

/** Sets the array's final state in the status of a success, beside its outputs. */
export function finalizeArrayStatus(state: RunState, node: RuntimeNode): void {
  const { childScope } = node;
  if (childScope?.array === undefined || node.status.phase === NodePhase.Succeeded) return;
  state.status.setNode(node, { ...node.status, arrayNodeStatus: arrayStatus(state, childScope, childScope.array, ARRAY_SUCCEEDING) });
}
