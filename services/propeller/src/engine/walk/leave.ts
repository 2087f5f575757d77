import type { NodeStatus } from "@flyte-ts/workflow-crd";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { statusesOf } from "../status/statuses.js";
import { forgetAll } from "./asking.js";
import { dropOutputs, releaseOutputs } from "./outputs.js";
import { countLeft } from "./scope.js";
import type { Walk } from "./walk.js";

/**
 * Discards the graph below an ended node. Its nodes' statuses stay in the status until admin has recorded the
 * execution's end, as do all others. Items of a map are not nodes in admin: the map's own task execution reports on
 * them.
 */
export function leaveEnded(walk: Walk, node: RuntimeNode, inner: Scope): void {
  if (walk.forgetsBelow || inner.array?.tells === "items" || walk.keptNodes + inner.nodes.size > walk.config.maxInstances) {
    leave(walk, node, inner);
    return;
  }
  const subNodeStatus = leaveKept(walk, inner);
  node.inner = undefined;
  if (Object.keys(subNodeStatus).length > 0) walk.setNode(node, { ...node.status, subNodeStatus });
}

/** Releases a graph's memory; returns the statuses of its nodes. */
function leaveKept(walk: Walk, inner: Scope): Record<string, NodeStatus> {
  for (const below of inner.nodes.values()) {
    releaseOutputs(walk, below);
    walk.timers.drop(below);
    forgetAll(walk, below);
    if (below.inner === undefined) continue;
    // It was aborted and keeps its last state.
    const subNodeStatus = leaveKept(walk, below.inner);
    below.inner = undefined;
    walk.setNode(below, { ...below.status, subNodeStatus });
  }
  walk.keptNodes += inner.nodes.size;
  walk.forgetScope(inner);
  countLeft(walk, inner);
  return statusesOf(inner);
}

/** Discards the graph below a node with its outputs and statuses; nothing of it is written any more. */
export function leave(walk: Walk, node: RuntimeNode, inner: Scope): void {
  letGo(walk, node, inner);
  for (const below of walk.dirty) if (isWithin(below.scope, inner)) walk.dirty.delete(below);
}

/** True when a graph is nested in another, whether or not that has been discarded. */
function isWithin(scope: Scope | undefined, outer: Scope): boolean {
  for (let at = scope; at !== undefined; at = at.owner?.scope) if (at === outer) return true;
  return false;
}

function letGo(walk: Walk, node: RuntimeNode, inner: Scope): void {
  for (const below of inner.nodes.values()) {
    dropOutputs(walk, below);
    walk.errors.give(below.status.error);
    walk.timers.drop(below);
    forgetAll(walk, below);
    if (below.inner !== undefined) letGo(walk, below, below.inner);
  }
  walk.forgetScope(inner);
  countLeft(walk, inner);
  node.inner = undefined;
}
