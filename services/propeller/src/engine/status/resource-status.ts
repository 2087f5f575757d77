import { type NodeStatus, ownField, type ParsedWorkflow, setOwnField, type WorkflowStatus } from "@flyte-ts/workflow-crd";
import { slicesPrefix } from "../data/paths.js";
import { NOT_BEGUN, type RuntimeNode } from "../graph/runtime.js";
import type { ResourcePatch } from "../types.js";
import type { Walk } from "../walk/walk.js";
import { jsonSize } from "./json-size.js";
import { mergeDiff } from "./patch.js";
import { statusesOf } from "./statuses.js";
import { type SlicesInput, StatusSlices } from "./status-slices.js";

type Patch = Record<string, unknown>;

/** The complete status, as the resource should hold it. */
export function wholeStatus(walk: Walk): WorkflowStatus {
  return { ...walk.status, nodeStatus: statusesOf(walk.root) };
}

/** Changes since the last call. */
export interface StatusChanges extends Pick<ResourcePatch, "blobs" | "unused" | "sweep"> {
  /** Merge patch of `status`. */
  readonly status: Patch;
}

/** Returns the changes since the last call; costs as much as nodes have changed, or as their slices hold. */
export function takeStatusChanges(walk: Walk): StatusChanges | undefined {
  const patch: Patch = mergeDiff(walk.writtenStatus, walk.status) ?? {};
  walk.writtenStatus = walk.status;
  if (walk.slices === undefined) {
    takeInline(walk, patch);
    if (!tooLargeInline(walk)) return Object.keys(patch).length === 0 ? undefined : { status: patch };
    patch["nodeStatus"] = null;
    walk.slices = StatusSlices.empty(slicesInput(walk));
    fillSlices(walk.slices, [], statusesOf(walk.root));
  } else takeIntoSlices(walk, walk.slices);
  walk.dirty.clear();
  if (walk.finishing === "asked") return takeLast(walk, walk.slices, patch);
  const changes = walk.slices.take();
  if (changes !== undefined) return { ...changes, status: { ...patch, ...changes.patch } };
  return Object.keys(patch).length === 0 ? undefined : { status: patch };
}

/** Restores the state of the node statuses in the resource. */
export function restoreWritten(walk: Walk, { status, slices: loaded = [] }: ParsedWorkflow): void {
  const { slices: root, nodeCounts: counts = {}, nodeStatus } = status;
  if (root === undefined) walk.inlineBytes = jsonSize(nodeStatus ?? {});
  else walk.slices = StatusSlices.restore(slicesInput(walk), { root, counts, loaded });
}

function slicesInput({ config, dataDir }: Walk): SlicesInput {
  const nonce = Math.floor(config.random() * 36 ** 6).toString(36);
  return { prefix: slicesPrefix(dataDir), limits: config.slices, nonce };
}

function takeInline(walk: Walk, patch: Patch): void {
  for (const node of walk.dirty) {
    inheritWritten(walk, node, patch);
    walk.inlineBytes += ownSize(node.status) - ownSize(node.written);
    const change = takeNodePatch(node);
    if (change !== undefined) merge(placeOf(patch, node), node.id, change);
  }
  walk.dirty.clear();
}

/** Bytes of a node's own status; nodes below it are counted separately. */
function ownSize(status: NodeStatus): number {
  if (status.subNodeStatus === undefined) return jsonSize(status);
  const { subNodeStatus: _, ...own } = status;
  return jsonSize(own);
}

/** The running sum includes nodes of discarded graphs, so it is checked before use. */
function tooLargeInline(walk: Walk): boolean {
  const limit = walk.config.inlineStatusLimit;
  if (walk.inlineBytes <= limit || walk.finishing === "asked") return false;
  walk.inlineBytes = jsonSize(statusesOf(walk.root));
  return walk.inlineBytes > limit;
}

/** A finished status that is small enough is written without slices. */
function takeLast(walk: Walk, slices: StatusSlices, patch: Patch): StatusChanges {
  const { prefix } = slices;
  if (slices.bytes <= walk.config.inlineStatusLimit) {
    walk.slices = undefined;
    return { status: { ...patch, slices: null, nodeCounts: null, nodeStatus: statusesOf(walk.root) }, sweep: { prefix, keep: [] } };
  }
  const changes = slices.take();
  return {
    status: { ...patch, ...changes?.patch },
    ...(changes === undefined ? {} : { blobs: changes.blobs }),
    sweep: { prefix, keep: slices.uris() },
  };
}

function fillSlices(slices: StatusSlices, above: readonly string[], statuses: Readonly<Record<string, NodeStatus>>): void {
  for (const [id, status] of Object.entries(statuses)) {
    const path = [...above, id];
    slices.set(path, status);
    if (status.subNodeStatus !== undefined) fillSlices(slices, path, status.subNodeStatus);
  }
}

function takeIntoSlices(walk: Walk, slices: StatusSlices): void {
  for (const node of walk.dirty) {
    const { owner } = node.scope;
    if (owner !== undefined) {
      // A new instance of a graph replaces the old one.
      if (owner.innerWritten !== undefined && owner.innerWritten !== node.scope) slices.removeBelow(idsOf(owner));
      owner.innerWritten = node.scope;
    }
    const leftBehind = hasLeftBehind(node);
    node.written = node.status;
    const path = idsOf(node);
    if (node.status === NOT_BEGUN) slices.remove(path);
    else slices.set(path, node.status);
    if (node.inner === undefined && !keepsBelow(node) && (node.innerWritten !== undefined || node.terminal || leftBehind)) {
      slices.removeBelow(path);
      node.innerWritten = undefined;
    }
  }
}

/** The resource holds statuses of a graph that has not been entered since loading and never will be. */
function hasLeftBehind({ written, status }: RuntimeNode): boolean {
  return written.subNodeStatus !== undefined && status.subNodeStatus === undefined;
}

/** The graph below is discarded, and the resource keeps the statuses of its nodes. */
function keepsBelow({ status }: RuntimeNode): boolean {
  return status.subNodeStatus !== undefined;
}

/** Ids from the root. */
function idsOf(node: RuntimeNode): string[] {
  const { owner } = node.scope;
  if (owner === undefined) return [node.id];
  const path = idsOf(owner);
  path.push(node.id);
  return path;
}

function takeNodePatch(node: RuntimeNode): Patch | null | undefined {
  const before = node.written;
  const leftBehind = hasLeftBehind(node);
  node.written = node.status;
  if (node.status === NOT_BEGUN) return before === NOT_BEGUN ? undefined : null;
  const { subNodeStatus: _b, ...old } = before;
  const { subNodeStatus: _a, ...next } = node.status;
  // A node without a status has no entry in the resource, not even a phase.
  const change = before === NOT_BEGUN ? { ...next } : (mergeDiff(old, next) ?? {});
  if (node.inner === undefined && !keepsBelow(node) && (node.innerWritten !== undefined || leftBehind)) {
    node.innerWritten = undefined;
    change["subNodeStatus"] = null;
  }
  if (node.scope.owner !== undefined) node.scope.owner.innerWritten = node.scope;
  return Object.keys(change).length === 0 ? undefined : change;
}

/** A new instance of a graph replaces the old one: the old one's statuses must be removed from the resource. */
function inheritWritten(walk: Walk, node: RuntimeNode, patch: Patch): void {
  const { owner } = node.scope;
  const old = owner?.innerWritten;
  if (owner === undefined || old === undefined || old === node.scope) return;
  owner.innerWritten = node.scope;
  for (const [id, gone] of old.nodes) {
    if (gone.written === NOT_BEGUN) continue;
    const heir = node.scope.nodes.get(id);
    if (heir === undefined) {
      setOwnField(placeOf(patch, node), id, null);
      continue;
    }
    heir.written = gone.written;
    heir.innerWritten = gone.innerWritten;
    walk.dirty.add(heir);
  }
}

/** `nodeStatus` or `subNodeStatus` map that holds the node's own. */
function placeOf(patch: Patch, node: RuntimeNode): Patch {
  const { owner } = node.scope;
  if (owner === undefined) return child(patch, "nodeStatus");
  return child(child(placeOf(patch, owner), owner.id), "subNodeStatus");
}

function child(parent: Patch, key: string): Patch {
  const there = ownField(parent, key);
  if (typeof there === "object" && there !== null) return there as Patch;
  const made: Patch = {};
  setOwnField(parent, key, made);
  return made;
}

function merge(place: Patch, key: string, change: Patch | null): void {
  const there = ownField(place, key);
  if (change !== null && typeof there === "object" && there !== null) Object.assign(there, change);
  else setOwnField(place, key, change);
}
