import type { RuntimeNode } from "../graph/runtime.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { checkCachesAndQueue } from "./start-node.js";
import { inputLocation } from "../data/input-location.js";
import { addBlobBlocker } from "../events/report-blockers.js";
import { commitSuccess } from "./commit-outputs.js";
import type { BlobTimer, RunState } from "../state/run-state.js";

/** Handles the result of a write; a failed one is retried. */
export function onBlobWritten(state: RunState, uri: string, error: string | undefined): void {
  const write = state.pendingBlobWrites.get(uri);
  if (write === undefined) return;
  if (error !== undefined) {
    write.retryAt = state.now + backoffDelay(state.config.blobRetry, write.attempts++, state.config.random);
    state.timers.schedule(blobTimerOf(state, uri), write.retryAt);
    addBlobBlocker(state, uri, `${uri}: ${error}`);
    return;
  }
  state.pendingBlobWrites.delete(uri);
  const { node } = write;
  node.pendingWrites?.delete(uri);
  if (node.pendingWrites === undefined || node.pendingWrites.size > 0) return;
  node.pendingWrites = undefined;
  onWritesDone(state, node);
}

function onWritesDone(state: RunState, node: RuntimeNode): void {
  if (node.abortReason !== undefined) {
    state.enqueueNode(node);
    return;
  }
  if (node.uncommittedSuccess !== undefined) {
    commitSuccess(state, node);
    return;
  }
  // When messages carry the inputs too, the file is not needed for reading.
  node.inputsInBlobStore = node.inputs === undefined || inputLocation(state, node, node.inputs) !== "message";
  if (node.inputs !== undefined) checkCachesAndQueue(state, node, node.inputs);
}

/** Retries the read or write of a blob if it is due. */
export function onBlobTimer(state: RunState, { blob: uri }: BlobTimer): void {
  const write = state.pendingBlobWrites.get(uri);
  if (write?.retryAt !== undefined && write.retryAt <= state.now) {
    write.retryAt = undefined;
    state.emit({ kind: "writeOutputs", uri, outputs: write.literals });
  }
  const effect = state.blobReads.retryIfDue(uri, state.now);
  if (effect !== undefined) state.emit(effect);
  // A second failure may have postponed the retry since the timer was set.
  for (const later of [write?.retryAt, state.blobReads.retryAt(uri)])
    if (later !== undefined) state.timers.schedule(blobTimerOf(state, uri), later);
}

/** The single timer subject of a blob. */
export function blobTimerOf(state: RunState, uri: string): BlobTimer {
  let timer = state.blobTimers.get(uri);
  if (timer === undefined) {
    timer = { blob: uri };
    state.blobTimers.set(uri, timer);
  }
  return timer;
}
