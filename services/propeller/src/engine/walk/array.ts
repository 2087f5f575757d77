import { NodePhase } from "@flyte-ts/domain";
import type { ArrayNodeStatus, GraphModel } from "@flyte-ts/workflow-crd";
import { compactArray } from "../array/compact.js";
import { concurrencyOf } from "../array/concurrency.js";
import { itemId, itemIndex, itemModel } from "../array/items.js";
import { ArrayRun } from "../array/run.js";
import { decideArray } from "../array/success.js";
import { errorToPlain } from "../failure/error-json.js";
import { MAX_ERROR_MESSAGE, MAX_STATUS_MESSAGE, boundMessage } from "../failure/bound-message.js";
import type { GraphIndex } from "../graph/index-graph.js";
import { RuntimeNode, Scope } from "../graph/runtime.js";
import { budgetsOf } from "../retry/budgets.js";
import { countEntered, placeText } from "./scope.js";
import { waitForRoom } from "./slots.js";
import { stopScope } from "./stop.js";
import type { Walk } from "./walk.js";
import { failureOf } from "../failure/timed-out.js";

// An array node runs a graph of items, each of which is a regular node. Items have no edges, so no dependencies are
// counted; they are created when they may start.

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
export function enterArrayScope(walk: Walk, owner: RuntimeNode, size: number): Scope {
  const { target } = owner.model;
  if (target.kind !== "array") throw new Error(`node ${owner.id} is no array`);
  const { definitions, policy } = owner.scope;
  const scope = new Scope({ index: ITEM_INDEX, owner, policy, definitions, executionDir: walk.dataDir });
  scope.array = new ArrayRun({
    array: target.array,
    subNode: target.subNode,
    size,
    concurrency: concurrencyOf(target.array, walk.config.arrayParallelism),
    template: target.subNode.target.kind === "task" ? definitions.tasks.get(target.subNode.target.task) : undefined,
  });
  scope.unsettled = size;
  countEntered(walk, scope);
  owner.inner = scope;
  return scope;
}

/** Creates the node of an item. */
export function addItem(scope: Scope, array: ArrayRun, index: number): RuntimeNode {
  const node = new RuntimeNode(itemModel(array.subNode, index), scope, undefined, (scope.owner?.order ?? "") + placeText(index));
  scope.nodes.set(node.id, node);
  return node;
}

/** Decides whether the array continues, fails or has ended; while it continues, starts items as capacity permits. */
export function stepArray(walk: Walk, scope: Scope, array: ArrayRun): void {
  switch (decideArray(array, array.needed)) {
    case "run":
      beginItems(walk, scope, array);
      return;
    case "fail":
      failArray(walk, scope, array);
      return;
    case "succeed":
      scope.stage = "done";
      // Later effects wait for the status: they do not follow from one item's success alone.
      walk.prompt = false;
      if (scope.owner !== undefined) walk.look(scope.owner);
      return;
  }
}

function beginItems(walk: Walk, scope: Scope, array: ArrayRun): void {
  for (let room = array.room(scope.live) + (walk.crowdsArrays ? 1 : 0); room > 0 && array.next < array.size; array.next++) {
    if (scope.nodes.has(itemId(array.next))) continue;
    array.pending++;
    room--;
    waitForRoom(walk, addItem(scope, array, array.next));
  }
}

function failArray(walk: Walk, scope: Scope, array: ArrayRun): void {
  const { owner } = scope;
  if (owner === undefined) return;
  scope.error = array.failures.error(MAX_ERROR_MESSAGE);
  walk.setNode(owner, { ...owner.status, arrayNodeStatus: arrayStatus(walk, scope, array, 2) });
  stopScope(walk, scope, FAILING_REASON);
}

/** Counts the end of an item, and keeps the part of its status needed until the array's end. */
export function itemEnded(walk: Walk, node: RuntimeNode, array: ArrayRun): void {
  if (!node.terminal) return;
  if (node.failed) {
    array.failed++;
    noteFailure(walk, node, array);
  } else array.succeeded++;
  if (array.tells === "nodes") return;
  const { stoppedAt: _, ...status } = node.status;
  walk.setNode(node, status);
}

/** Counts an item of a restored array. */
export function countRestored(node: RuntimeNode, array: ArrayRun): void {
  if (node.failed) {
    array.failed++;
    array.failures.add(itemIndex(node.id), failureOf(node));
  } else if (node.terminal) array.succeeded++;
}

/** Truncates texts that the array's own error does not include: thousands of stack traces do not fit into a status. */
function noteFailure(walk: Walk, node: RuntimeNode, array: ArrayRun): void {
  const error = failureOf(node);
  const known = array.failures.has(error.message);
  const kept = array.failures.add(itemIndex(node.id), error);
  if ((!known && kept) || error.message.length <= MAX_STATUS_MESSAGE) return;
  const short = { ...error, message: boundMessage(error.message, MAX_STATUS_MESSAGE) };
  walk.setNode(node, { ...node.status, error: walk.errors.take(short, node.status.error) });
}

/** `arrayNodeStatus` in Go Flyte's format, from the items' current state. */
export function arrayStatus(walk: Walk, scope: Scope, array: ArrayRun, phase: number): ArrayNodeStatus {
  const attempts = new Uint32Array(array.size);
  const system = new Uint32Array(array.size);
  for (const node of scope.nodes.values()) {
    attempts[itemIndex(node.id)] = node.attempt;
    system[itemIndex(node.id)] = node.status.systemFailures ?? 0;
  }
  const { maxAttempts, maxSystemFailures } = budgetsOf(array.subNode, array.template, walk.config);
  const { taskPhaseVersion } = scope.owner?.status.arrayNodeStatus ?? {};
  return {
    phase,
    ...(array.failures.any ? { executionError: errorToPlain(array.failures.error(MAX_ERROR_MESSAGE)) } : {}),
    subattempts: compactArray(attempts, maxAttempts + maxSystemFailures),
    subsysfailures: compactArray(system, maxSystemFailures),
    ...(taskPhaseVersion === undefined ? {} : { taskPhaseVersion }),
  };
}

/** Phases of `arrayNodeStatus`. */
export const ARRAY_EXECUTING = 1;
export const ARRAY_FAILING = 2;
export const ARRAY_SUCCEEDING = 3;

/** Sets the array's final state in the status of a success, beside its outputs. */
export function closeArray(walk: Walk, node: RuntimeNode): void {
  const { inner } = node;
  if (inner?.array === undefined || node.status.phase === NodePhase.Succeeded) return;
  walk.setNode(node, { ...node.status, arrayNodeStatus: arrayStatus(walk, inner, inner.array, ARRAY_SUCCEEDING) });
}
