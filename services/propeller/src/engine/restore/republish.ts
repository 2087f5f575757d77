import { nodeEventPhase, NodePhase } from "@flyte-ts/domain/phase";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { republishedAtMs } from "../time/rfc3339.js";
import { liveDeck } from "../data/live-deck.js";
import { publishAborted, republishNode } from "../lifecycle/end-node.js";
import { ROOT_REASON } from "../abort/abort.js";
import { publishNodeEvent } from "../events/publish-event.js";
import type { RunState } from "../state/run-state.js";

// Republishes node events that may have been lost, with the previous process or in transit.

/**
 * Publishes again that a node is queued or runs, with the time from the status: events before the
 * restart may be lost.
 */
export function republishProgress(state: RunState, node: RuntimeNode): void {
  const { phase, queuedAt, startedAt } = node.status;
  const occurredAt = republishedAtMs(phase === NodePhase.Queued ? queuedAt : startedAt, state.observation.now);
  if (phase === NodePhase.Queued) publishNodeEvent(state, node, { phase: nodeEventPhase(NodePhase.Queued), occurredAt }, "immediate");
  else publishNodeEvent(state, node, { phase: nodeEventPhase(NodePhase.Running), occurredAt, deckUri: liveDeck(state, node) }, "immediate");
}

/** Republishes ends within the window before the last change; admin repairs earlier losses. */
export function republishRecentEnds(state: RunState): void {
  const ended: { readonly node: RuntimeNode; readonly at: number }[] = [];
  collectPublishedEnds(state.root, ended);
  let last = 0;
  for (const { at } of ended) last = Math.max(last, at);
  for (const { node, at } of ended) if (at >= last - state.config.republishWindow) republishNode(state, node);
}

/**
 * Publishes again the state of the node with this unique id, which the control plane does not know.
 * Ignores a node that has not started.
 */
export function republishUnknownNode(state: RunState, uniqueId: string): void {
  const node = findByUniqueId(state.root, uniqueId);
  if (node === undefined || isUnpublished(node)) return;
  if (node.isTerminal) republishNode(state, node);
  else if (node.ended) publishAborted(state, node, node.scope.abortReason === "" ? ROOT_REASON : node.scope.abortReason, "immediate");
  else if (node.started) republishProgress(state, node);
}

function findByUniqueId(scope: Scope, uniqueId: string): RuntimeNode | undefined {
  for (const node of scope.nodes.values()) {
    const found = node.uniqueId === uniqueId ? node : node.childScope && findByUniqueId(node.childScope, uniqueId);
    if (found !== undefined) return found;
  }
  return undefined;
}

function collectPublishedEnds(scope: Scope, into: { readonly node: RuntimeNode; readonly at: number }[]): void {
  for (const node of scope.nodes.values()) {
    if (node.isTerminal && node.lifecycle.endedAt !== undefined && !isUnpublished(node)) into.push({ node, at: node.lifecycle.endedAt });
    if (node.childScope !== undefined) collectPublishedEnds(node.childScope, into);
  }
}

/** Arms that were not chosen publish nothing. */
function isUnpublished({ status, branch }: RuntimeNode): boolean {
  return status.phase === NodePhase.Skipped && branch !== undefined;
}
