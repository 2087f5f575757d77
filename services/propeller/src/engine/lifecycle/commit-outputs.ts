import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { UncommittedSuccess } from "../graph/node-data.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { sendCleanupRequest } from "../requests/requests.js";
import { storeOutputs } from "../dependencies/cache.js";
import { fitsInline, sizeOf, writeOutputs } from "../data/outputs.js";
import { succeedNode } from "./end-node.js";
import { abortSpeculativeDependents } from "../abort/abort.js";
import type { RunState } from "../state/run-state.js";

/** Publishes a pending success once its outputs are written and, if required, cached. */
export function commitSuccess(state: RunState, node: RuntimeNode): void {
  const { uncommittedSuccess: pending } = node.data;
  const { maybeAheadOfStatus } = node.readiness;
  if (pending === undefined || node.data.pendingWrites !== undefined) return;
  if (storeOutputs(state, node, pending) === "waiting") return;
  const { value, stored } = pending;
  if (value !== undefined && !stored && !fitsInline(state, sizeOf(value))) {
    // The budget sufficed when the attempt ended; other outputs used it up during caching.
    writeOutputs(state, node, value, pending);
    return;
  }
  const cleans = pending.cleanup && ranAttempt(node);
  endSucceeded(state, node, pending);
  if (cleans) sendCleanupRequest(state, node, { attempt: node.attempt, remove: true });
  if (maybeAheadOfStatus) abortSpeculativeDependents(state, node);
}

/**
 * Commits the success of an attempt that ended before its node's abort. No node waits for its blob
 * any more: outputs that may not be written stay in the status.
 */
export function commitSuccessDuringAbort(state: RunState, node: RuntimeNode, pending: UncommittedSuccess): void {
  const cleans = pending.cleanup && ranAttempt(node);
  const unwritten = state.blobWrites.pendingLiterals(pending.uri) ?? (pending.stored ? undefined : pending.value);
  if (unwritten === undefined) endSucceeded(state, node, pending);
  else {
    const { uri, deckUri } = pending;
    succeedNode(state, node, { outputs: { value: unwritten, uri }, deckUri });
  }
  if (cleans) sendCleanupRequest(state, node, { attempt: node.attempt, remove: true });
  if (node.readiness.maybeAheadOfStatus) abortSpeculativeDependents(state, node);
}

/** True when the outputs are those of an attempt of the node. */
function ranAttempt({ model, graph, calls }: RuntimeNode): boolean {
  const isTask = model.target.kind === "task" && !graph.isDynamic;
  return isTask && calls.recoveredFrom === undefined && calls.cache?.status !== CatalogCacheStatus.CACHE_HIT;
}

function endSucceeded(state: RunState, node: RuntimeNode, { value, uri, deckUri }: UncommittedSuccess): void {
  // The array need not read the blob just written.
  if (node.scope.array !== undefined) node.changeData().setOutputs(value);
  const kept = value !== undefined && fitsInline(state, sizeOf(value)) ? value : undefined;
  succeedNode(state, node, { outputs: { value: kept, uri }, deckUri });
}
