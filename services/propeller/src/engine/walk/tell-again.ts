import { NodePhase, nodeEventPhase } from "@flyte-ts/domain";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { toldAgainAt } from "../time/rfc3339.js";
import { liveDeck } from "./live-deck.js";
import { tellAborted, tellAgain } from "./settle.js";
import { ROOT_REASON } from "./stop.js";
import type { Walk } from "./walk.js";

// Republishes node events that may have been lost: with the process before, or in transit.

/** Publishes again that a node is queued or runs, with the time from the status: events before the restart may be lost. */
export function tellProgressAgain(walk: Walk, node: RuntimeNode): void {
  const { phase, queuedAt, startedAt } = node.status;
  const occurredAt = toldAgainAt(phase === NodePhase.Queued ? queuedAt : startedAt, walk.now);
  if (phase === NodePhase.Queued) walk.tell.node(node, nodeEventPhase(NodePhase.Queued), { occurredAt }, "now");
  else walk.tell.node(node, nodeEventPhase(NodePhase.Running), { occurredAt, deckUri: liveDeck(walk, node) }, "now");
}

/** Republishes ends within the window before the last change; admin repairs earlier losses. */
export function tellRecentEnds(walk: Walk): void {
  const ended: { readonly node: RuntimeNode; readonly at: number }[] = [];
  collectEnds(walk.root, ended);
  let last = 0;
  for (const { at } of ended) last = Math.max(last, at);
  for (const { node, at } of ended) if (at >= last - walk.config.republishWindow) tellAgain(walk, node);
}

/**
 * Publishes again the state of the node with this unique id, which the control plane does not know. Ignores a node that
 * has not started.
 */
export function tellUnknown(walk: Walk, uniqueId: string): void {
  const node = find(walk.root, uniqueId);
  if (node === undefined || isSilent(node)) return;
  if (node.terminal) tellAgain(walk, node);
  else if (node.settled) tellAborted(walk, node, node.scope.stopReason === "" ? ROOT_REASON : node.scope.stopReason, "now");
  else if (node.begun) tellProgressAgain(walk, node);
}

function find(scope: Scope, uniqueId: string): RuntimeNode | undefined {
  for (const node of scope.nodes.values()) {
    const found = node.uniqueId === uniqueId ? node : node.inner && find(node.inner, uniqueId);
    if (found !== undefined) return found;
  }
  return undefined;
}

function collectEnds(scope: Scope, into: { readonly node: RuntimeNode; readonly at: number }[]): void {
  for (const node of scope.nodes.values()) {
    if (node.terminal && node.endedAt !== undefined && !isSilent(node)) into.push({ node, at: node.endedAt });
    if (node.inner !== undefined) collectEnds(node.inner, into);
  }
}

/** Arms that were not chosen publish nothing. */
function isSilent({ status, branch }: RuntimeNode): boolean {
  return status.phase === NodePhase.Skipped && branch !== undefined;
}
