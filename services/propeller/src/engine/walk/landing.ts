import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { PendingOutputs, RuntimeNode } from "../graph/runtime.js";
import { sendFinalize } from "./attempt.js";
import { putOutputs } from "./caching.js";
import { fitsInline, sizeOf, writeOutputs } from "./outputs.js";
import { succeed } from "./settle.js";
import { stopFollowers } from "./stop.js";
import type { Walk } from "./walk.js";

/** Publishes a pending success once its outputs are written and, if required, cached. */
export function land(walk: Walk, node: RuntimeNode): void {
  const { pendingOutputs: pending, unconfirmed } = node;
  if (pending === undefined || node.writes !== undefined) return;
  if (putOutputs(walk, node, pending) === "waiting") return;
  const { value, stored } = pending;
  if (value !== undefined && !stored && !fitsInline(walk, sizeOf(value))) {
    // The budget sufficed when the attempt ended; other outputs used it up during caching.
    writeOutputs(walk, node, value, pending);
    return;
  }
  const ran =
    node.model.target.kind === "task" &&
    !node.expanded &&
    node.recovered === undefined &&
    node.cache?.status !== CatalogCacheStatus.CACHE_HIT;
  tell(walk, node, pending);
  if (ran && walk.config.deleteResourcesOnFinalize) sendFinalize(walk, node, { attempt: node.attempt, remove: true });
  if (unconfirmed) stopFollowers(walk, node);
}

/**
 * Commits the success of an attempt that ended before its node's abort. No node waits for its blob any more: outputs
 * that may not be written stay in the status.
 */
export function landAtOnce(walk: Walk, node: RuntimeNode, pending: PendingOutputs): void {
  const unwritten = walk.writes.get(pending.uri)?.literals ?? (pending.stored ? undefined : pending.value);
  if (unwritten === undefined) tell(walk, node, pending);
  else {
    const { uri, deckUri } = pending;
    succeed(walk, node, { outputs: { value: unwritten, uri }, deckUri });
  }
  if (node.unconfirmed) stopFollowers(walk, node);
}

function tell(walk: Walk, node: RuntimeNode, { value, uri, deckUri }: PendingOutputs): void {
  // The array need not read the blob just written.
  if (node.scope.array !== undefined) node.outputs = value;
  const kept = value !== undefined && fitsInline(walk, sizeOf(value)) ? value : undefined;
  succeed(walk, node, { outputs: { value: kept, uri }, deckUri });
}
