import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd";
import { NOT_BEGUN, type RuntimeNode, type Scope } from "../graph/runtime.js";
import type { Walk } from "../walk/walk.js";
import { mergeDiff } from "./patch.js";

type Patch = Record<string, unknown>;

/** The whole status, as the resource should hold it. */
export function wholeStatus(walk: Walk): WorkflowStatus {
  return { ...walk.status, nodeStatus: statusesOf(walk.root) };
}

function statusesOf(scope: Scope): Record<string, NodeStatus> {
  const statuses: Record<string, NodeStatus> = {};
  for (const [id, node] of scope.nodes) {
    if (node.status === NOT_BEGUN) continue;
    statuses[id] = node.inner === undefined ? node.status : { ...node.status, subNodeStatus: statusesOf(node.inner) };
  }
  return statuses;
}

/** What has changed since the last call, as a merge patch of `status`; costs as much as nodes have changed. */
export function takeStatusPatch(walk: Walk): Patch | undefined {
  const patch: Patch = mergeDiff(walk.writtenStatus, walk.status) ?? {};
  walk.writtenStatus = walk.status;
  for (const node of walk.dirty) {
    inheritWritten(walk, node, patch);
    const change = takeNodePatch(node);
    if (change !== undefined) merge(placeOf(patch, node), node.id, change);
  }
  walk.dirty.clear();
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function takeNodePatch(node: RuntimeNode): Patch | null | undefined {
  const before = node.written;
  node.written = node.status;
  if (node.status === NOT_BEGUN) return before === NOT_BEGUN ? undefined : null;
  const { subNodeStatus: _b, ...old } = before;
  const { subNodeStatus: _a, ...next } = node.status;
  // A node without a status has nothing in the resource, not even a phase.
  const change = before === NOT_BEGUN ? { ...next } : (mergeDiff(old, next) ?? {});
  const leftBehind = before.subNodeStatus !== undefined && node.status.subNodeStatus === undefined;
  if (node.inner === undefined && (node.innerWritten !== undefined || leftBehind)) {
    node.innerWritten = undefined;
    change["subNodeStatus"] = null;
  }
  if (node.scope.owner !== undefined) node.scope.owner.innerWritten = node.scope;
  return Object.keys(change).length === 0 ? undefined : change;
}

/** A new instance of a graph takes the place of an old one: what the resource holds of the old must go. */
function inheritWritten(walk: Walk, node: RuntimeNode, patch: Patch): void {
  const { owner } = node.scope;
  const old = owner?.innerWritten;
  if (owner === undefined || old === undefined || old === node.scope) return;
  owner.innerWritten = node.scope;
  for (const [id, gone] of old.nodes) {
    if (gone.written === NOT_BEGUN) continue;
    const heir = node.scope.nodes.get(id);
    if (heir === undefined) {
      placeOf(patch, node)[id] = null;
      continue;
    }
    heir.written = gone.written;
    heir.innerWritten = gone.innerWritten;
    walk.dirty.add(heir);
  }
}

/** `nodeStatus` or `subNodeStatus` that holds the node's own. */
function placeOf(patch: Patch, node: RuntimeNode): Patch {
  const { owner } = node.scope;
  if (owner === undefined) return child(patch, "nodeStatus");
  return child(child(placeOf(patch, owner), owner.id), "subNodeStatus");
}

function child(parent: Patch, key: string): Patch {
  const there = parent[key];
  if (typeof there === "object" && there !== null) return there as Patch;
  const made: Patch = {};
  parent[key] = made;
  return made;
}

function merge(place: Patch, key: string, change: Patch | null): void {
  const there = place[key];
  if (change !== null && typeof there === "object" && there !== null) Object.assign(there, change);
  else place[key] = change;
}
