import type { NodeStatus } from "@flyte-ts/workflow-crd/status";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { statusesOf } from "../status/node-statuses.js";
import { cancelCalls } from "../dependencies/calls.js";
import { evictOutputs, releaseOutputs } from "../data/outputs.js";
import { removeInstances } from "../state/scope.js";
import type { RunState } from "../state/run-state.js";

/**
 * Discards the graph below an ended node. Its nodes' statuses stay in the status until admin has
 * recorded the execution's end, as do all others. Items of a map are not nodes in admin: the map's
 * own task execution reports on them.
 */
export function discardKeepingStatuses(state: RunState, node: RuntimeNode, childScope: Scope): void {
  if (
    !state.policy.keepsChildStatusesUntilRecorded(node) ||
    childScope.array?.reportsItemsAs === "items" ||
    state.outputBudget.keptNodes + childScope.nodes.size > state.config.maxInstances
  ) {
    discardScope(state, node, childScope);
    return;
  }
  const subNodeStatus = releaseKeepingStatuses(state, childScope);
  node.changeGraph().leave();
  if (Object.keys(subNodeStatus).length > 0) state.status.setNode(node, { ...node.status, subNodeStatus });
}

/** Releases a graph's memory; returns the statuses of its nodes. */
function releaseKeepingStatuses(state: RunState, childScope: Scope): Record<string, NodeStatus> {
  for (const below of childScope.nodes.values()) {
    releaseOutputs(state, below);
    state.timers.cancel(below);
    cancelCalls(state, below);
    if (below.childScope === undefined) continue;
    // This node was aborted and keeps its last status.
    const subNodeStatus = releaseKeepingStatuses(state, below.childScope);
    below.changeGraph().leave();
    state.status.setNode(below, { ...below.status, subNodeStatus });
  }
  state.outputBudget.addKeptNodes(childScope.nodes.size);
  state.queues.removeScope(childScope);
  removeInstances(state, childScope);
  return statusesOf(childScope);
}

/**
 * Discards the graph below a node with its outputs and statuses; nothing of it is written any more.
 */
export function discardScope(state: RunState, node: RuntimeNode, childScope: Scope): void {
  releaseScope(state, node, childScope);
  state.status.dropChanges((below) => isWithin(below.scope, childScope));
}

/** True when a graph is nested in another, whether or not that has been discarded. */
function isWithin(scope: Scope | undefined, outer: Scope): boolean {
  for (let at = scope; at !== undefined; at = at.owner?.scope) if (at === outer) return true;
  return false;
}

function releaseScope(state: RunState, node: RuntimeNode, childScope: Scope): void {
  for (const below of childScope.nodes.values()) {
    evictOutputs(state, below);
    state.errors.remove(below.status.error);
    state.timers.cancel(below);
    cancelCalls(state, below);
    if (below.childScope !== undefined) releaseScope(state, below, below.childScope);
  }
  state.queues.removeScope(childScope);
  removeInstances(state, childScope);
  node.changeGraph().leave();
}
