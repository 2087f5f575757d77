import { ExpansionError } from "@flyte-ts/domain/graph";
import type { GraphModel, NodeModel } from "@flyte-ts/workflow-crd";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { failurePolicy } from "../graph/failure-policy.js";
import { indexGraph } from "../graph/index-graph.js";
import { type Definitions, RuntimeNode, Scope } from "../graph/runtime.js";
import type { RunState } from "./run-state.js";

/** Creates the scope of the workflow's own graph, with no node started. */
export function rootScope(state: RunState): Scope {
  return newScope(state, state.model.root, { owner: undefined, definitions: state.model });
}

/**
 * Creates a scope of a graph below a node, with no node started. Its nodes use the definitions of
 * the owner's graph unless it has its own.
 */
export function enterScope(state: RunState, graph: GraphModel, owner: RuntimeNode, definitions = owner.scope.definitions): Scope {
  const scope = newScope(state, graph, { owner, definitions });
  owner.changeGraph().enter(scope);
  return scope;
}

interface ScopeParent {
  readonly owner: RuntimeNode | undefined;
  readonly definitions: Definitions;
}

function newScope(state: RunState, graph: GraphModel, { owner, definitions }: ScopeParent): Scope {
  const index = indexGraph(graph);
  const scope = new Scope({ index, owner, policy: failurePolicy(graph, owner?.scope.policy), definitions, executionDir: state.dataDir });
  const orderPrefix = owner?.topologicalKey ?? "";
  // In topological order, so that a branch precedes its arms.
  for (const [id, place] of index.order) {
    const model = graph.nodes.get(id);
    if (model === undefined) continue;
    const branchId = index.branchOf.get(id);
    const branch = branchId === undefined ? undefined : scope.nodes.get(branchId);
    const node = new RuntimeNode({
      model,
      scope,
      branch,
      topologicalKey: orderPrefix + sortKey(place),
      upstream: index.upstream.get(id)?.length ?? 0,
      consumers: index.consumers.get(id) ?? 0,
    });
    scope.nodes.set(id, node);
  }
  scope.openNodes = scope.nodes.size;
  addInstances(state, scope);
  return scope;
}

/** True when a graph with this many nodes may be entered. */
export function fitsInstanceLimit(state: RunState, nodes: number): boolean {
  return state.usage.instances + nodes <= state.config.maxInstances;
}

/** Error of a node whose graph is not entered. */
export function tooManyInstances({ config, usage: { instances } }: RunState, nodes: number): ExecutionErrorJson {
  const message = `the execution holds ${instances} node instances, and ${nodes} more would exceed the limit of ${config.maxInstances}`;
  return { code: "WorkflowTooLarge", kind: "USER", message };
}

/**
 * Counts the graph's nodes until it is discarded.
 *
 * @throws ExpansionError when a restored status holds far more than a run may: this process did not
 *   write it.
 */
export function addInstances(state: RunState, scope: Scope): void {
  state.usage.addInstances(sizeOf(scope));
  const most = 2 * state.config.maxInstances;
  if (state.usage.instances > most) throw new ExpansionError(`the status holds more than ${most} node instances`);
}

export function removeInstances(state: RunState, scope: Scope): void {
  state.usage.removeInstances(sizeOf(scope));
}

/** Items of an array count before they are created. */
function sizeOf({ array, index }: Scope): number {
  return array?.size ?? index.order.size;
}

/** Creates the node that runs when a graph has failed. */
export function addFailureNode(scope: Scope, model: NodeModel): RuntimeNode {
  const node = new RuntimeNode({ model, scope, branch: undefined, topologicalKey: `${scope.owner?.topologicalKey ?? ""}~` });
  scope.nodes.set(model.id, node);
  scope.failureNode = node;
  return node;
}

/** Encodes the number so that texts sort numerically. */
export function sortKey(place: number): string {
  return String.fromCharCode(0x21 + Math.floor(place / 8000), 0x21 + (place % 8000));
}
