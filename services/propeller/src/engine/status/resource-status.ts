import { ownField, type ParsedWorkflow, setOwnField } from "@flyte-ts/workflow-crd";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { slicesPrefix } from "../graph/paths.js";
import { NOT_STARTED, type RuntimeNode, type Scope } from "../graph/runtime.js";
import type { ResourcePatch } from "../types.js";
import type { EngineConfig } from "../config.js";
import { jsonSize } from "./json-size.js";
import { mergeDiff } from "./patch.js";
import { statusesOf } from "./node-statuses.js";
import type { RunStatus } from "./run-status.js";
import { type SlicesInput, StatusSlices } from "./status-slices.js";

type Patch = Record<string, unknown>;

/** Facts of the run that its patch depends on. */
export interface PatchContext {
  readonly root: Scope;
  readonly config: Pick<EngineConfig, "random" | "sliceLimits" | "maxInlineStatusBytes">;
  /** Data dir of the execution. */
  readonly dataDir: string;
  /** The patch finalizes the resource. */
  readonly isFinal: boolean;
}

/** The complete status, as the resource should hold it. */
export function wholeStatus({ workflow }: Pick<RunStatus, "workflow">, root: Scope): WorkflowStatus {
  return { ...workflow, nodeStatus: statusesOf(root) };
}

/** Changes since the last call. */
export interface StatusChanges extends Pick<ResourcePatch, "blobs" | "obsoleteSlices" | "deleteOtherSlices"> {
  /** Merge patch of `status`. */
  readonly status: Patch;
}

/**
 * Returns the changes since the last call. The costs depend on the number of changed nodes, or on
 * the contents of their slices.
 */
export function collectStatusPatch(status: RunStatus, context: PatchContext): StatusChanges | undefined {
  const patch: Patch = mergeDiff(status.persistedWorkflow, status.workflow) ?? {};
  status.persistedWorkflow = status.workflow;
  if (status.slices === undefined) {
    patchInline(status, patch);
    if (!tooLargeInline(status, context)) return Object.keys(patch).length === 0 ? undefined : { status: patch };
    patch["nodeStatus"] = null;
    status.slices = StatusSlices.empty(slicesInput(context));
    fillSlices(status.slices, [], statusesOf(context.root));
  } else patchSlices(status, status.slices);
  status.dirtyNodes.clear();
  if (context.isFinal) return patchFinal(status, status.slices, { patch, context });
  const changes = status.slices.collectChanges();
  if (changes !== undefined) {
    const { patch: slices, ...blobs } = changes;
    return { ...blobs, status: { ...patch, ...slices } };
  }
  return Object.keys(patch).length === 0 ? undefined : { status: patch };
}

/** Restores the state of the node statuses in the resource. */
export function restorePersisted(status: RunStatus, { status: stored, slices: loaded = [] }: ParsedWorkflow, context: PatchContext): void {
  const { slices: root, nodeCounts: counts = {}, nodeStatus } = stored;
  if (root === undefined) status.inlineBytes = jsonSize(nodeStatus ?? {});
  else status.slices = StatusSlices.restore(slicesInput(context), { root, counts, loaded });
}

function slicesInput({ config, dataDir }: PatchContext): SlicesInput {
  const nonce = Math.floor(config.random() * 36 ** 6).toString(36);
  return { prefix: slicesPrefix(dataDir), limits: config.sliceLimits, nonce };
}

function patchInline(status: RunStatus, patch: Patch): void {
  for (const node of status.dirtyNodes) {
    adoptPersisted(status, node, patch);
    status.inlineBytes += ownSize(node.status) - ownSize(node.persistedStatus);
    const change = collectNodePatch(node);
    if (change !== undefined) merge(statusMapOf(patch, node), node.id, change);
  }
  status.dirtyNodes.clear();
}

/** Bytes of a node's own status; nodes below it are counted separately. */
function ownSize(status: NodeStatus): number {
  if (status.subNodeStatus === undefined) return jsonSize(status);
  const { subNodeStatus: _, ...own } = status;
  return jsonSize(own);
}

/** The running sum includes nodes of discarded graphs, so it is checked before use. */
function tooLargeInline(status: RunStatus, { config, root, isFinal }: PatchContext): boolean {
  const limit = config.maxInlineStatusBytes;
  if (status.inlineBytes <= limit || isFinal) return false;
  status.inlineBytes = jsonSize(statusesOf(root));
  return status.inlineBytes > limit;
}

/** A finished status that is small enough is written without slices. */
function patchFinal(
  status: RunStatus,
  slices: StatusSlices,
  { patch, context }: { readonly patch: Patch; readonly context: PatchContext },
): StatusChanges {
  const { prefix } = slices;
  if (slices.bytes <= context.config.maxInlineStatusBytes) {
    status.slices = undefined;
    return {
      status: { ...patch, slices: null, nodeCounts: null, nodeStatus: statusesOf(context.root) },
      deleteOtherSlices: { prefix, keep: [] },
    };
  }
  const changes = slices.collectChanges();
  return {
    status: { ...patch, ...changes?.patch },
    ...(changes === undefined ? {} : { blobs: changes.blobs }),
    deleteOtherSlices: { prefix, keep: slices.uris() },
  };
}

function fillSlices(slices: StatusSlices, above: readonly string[], statuses: Readonly<Record<string, NodeStatus>>): void {
  for (const [id, status] of Object.entries(statuses)) {
    const path = [...above, id];
    slices.set(path, status);
    if (status.subNodeStatus !== undefined) fillSlices(slices, path, status.subNodeStatus);
  }
}

function patchSlices(status: RunStatus, slices: StatusSlices): void {
  for (const node of status.dirtyNodes) {
    const { owner } = node.scope;
    if (owner !== undefined) {
      // A new instance of a graph replaces the old one.
      if (owner.graph.persisted !== undefined && owner.graph.persisted !== node.scope) slices.removeBelow(idsOf(owner));
      owner.changeGraph().setPersisted(node.scope);
    }
    const leftBehind = hasStaleChildren(node);
    node.setPersistedStatus(node.status);
    const path = idsOf(node);
    if (node.status === NOT_STARTED) slices.remove(path);
    else slices.set(path, node.status);
    if (
      node.childScope === undefined &&
      !keepsChildStatuses(node) &&
      (node.graph.persisted !== undefined || node.isTerminal || leftBehind)
    ) {
      slices.removeBelow(path);
      if (node.graph.persisted !== undefined) node.changeGraph().setPersisted(undefined);
    }
  }
}

/**
 * The resource holds statuses of a graph that has not been entered since loading and never will be.
 */
function hasStaleChildren({ persistedStatus, status }: RuntimeNode): boolean {
  return persistedStatus.subNodeStatus !== undefined && status.subNodeStatus === undefined;
}

/** The graph below is discarded, and the resource keeps the statuses of its nodes. */
function keepsChildStatuses({ status }: RuntimeNode): boolean {
  return status.subNodeStatus !== undefined;
}

/** Returns the ids of the nodes from the root of the graph to this node. */
function idsOf(node: RuntimeNode): string[] {
  const { owner } = node.scope;
  if (owner === undefined) return [node.id];
  const path = idsOf(owner);
  path.push(node.id);
  return path;
}

function collectNodePatch(node: RuntimeNode): Patch | null | undefined {
  const before = node.persistedStatus;
  const leftBehind = hasStaleChildren(node);
  node.setPersistedStatus(node.status);
  if (node.status === NOT_STARTED) return before === NOT_STARTED ? undefined : null;
  const { subNodeStatus: _b, ...old } = before;
  const { subNodeStatus: _a, ...next } = node.status;
  // A node without a status has no entry in the resource, not even a phase.
  const change = before === NOT_STARTED ? { ...next } : (mergeDiff(old, next) ?? {});
  if (node.childScope === undefined && !keepsChildStatuses(node) && (node.graph.persisted !== undefined || leftBehind)) {
    node.changeGraph().setPersisted(undefined);
    change["subNodeStatus"] = null;
  }
  if (node.scope.owner !== undefined) node.scope.owner.changeGraph().setPersisted(node.scope);
  return Object.keys(change).length === 0 ? undefined : change;
}

/**
 * A new instance of a graph replaces the old one: the old one's statuses must be removed from the
 * resource.
 */
function adoptPersisted(status: RunStatus, node: RuntimeNode, patch: Patch): void {
  const { owner } = node.scope;
  const old = owner?.graph.persisted;
  if (owner === undefined || old === undefined || old === node.scope) return;
  owner.changeGraph().setPersisted(node.scope);
  for (const [id, gone] of old.nodes) {
    if (gone.persistedStatus === NOT_STARTED) continue;
    const successor = node.scope.nodes.get(id);
    if (successor === undefined) {
      setOwnField(statusMapOf(patch, node), id, null);
      continue;
    }
    successor.setPersistedStatus(gone.persistedStatus);
    if (successor.graph.persisted !== gone.graph.persisted) successor.changeGraph().setPersisted(gone.graph.persisted);
    status.dirtyNodes.add(successor);
  }
}

/** `nodeStatus` or `subNodeStatus` map that holds the node's own. */
function statusMapOf(patch: Patch, node: RuntimeNode): Patch {
  const { owner } = node.scope;
  if (owner === undefined) return child(patch, "nodeStatus");
  return child(child(statusMapOf(patch, owner), owner.id), "subNodeStatus");
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
