import type { RuntimeNode } from "../graph/runtime.js";
import { checkCachesAndQueue } from "./start-node.js";
import { inputLocation } from "../data/input-location.js";
import { addBlobBlocker } from "../events/report-blockers.js";
import { commitSuccess } from "../lifecycle/commit-outputs.js";
import type { BlobTimer } from "../state/run-timers.js";
import type { RunState } from "../state/run-state.js";

/** Handles the result of a write; a failed one is retried. */
export function onBlobWritten(state: RunState, uri: string, error: string | undefined): void {
  if (error === undefined) {
    const node = state.blobWrites.onDone(uri);
    if (node !== undefined) onWritesDone(state, node);
    return;
  }
  const retryAt = state.blobWrites.onFailed(uri, state.observation.now);
  if (retryAt === undefined) return;
  state.timers.scheduleBlob(uri, retryAt);
  addBlobBlocker(state, uri, `${uri}: ${error}`);
}

function onWritesDone(state: RunState, node: RuntimeNode): void {
  if (node.abortReason !== undefined) {
    state.queues.enqueueNode(node);
    return;
  }
  if (node.data.uncommittedSuccess !== undefined) {
    commitSuccess(state, node);
    return;
  }
  // When messages carry the inputs too, the file is not needed for reading.
  const { inputs, readsArrayInputs } = node.data;
  const inBlobStore = inputs === undefined || inputLocation(state, node, inputs) !== "message";
  node.changeData().setInputLocation({ inBlobStore, inArrayFile: readsArrayInputs });
  if (inputs !== undefined) checkCachesAndQueue(state, node, inputs);
}

/** Retries the read or write of a blob if it is due. */
export function onBlobTimer(state: RunState, { blob: uri }: BlobTimer): void {
  const { now } = state.observation;
  for (const effect of [state.blobWrites.retryIfDue(uri, now), state.blobReads.retryIfDue(uri, now)])
    if (effect !== undefined) state.effects.emit(effect);
  // A second failure may have postponed the retry since the timer was set.
  for (const later of [state.blobWrites.retryAt(uri), state.blobReads.retryAt(uri)])
    if (later !== undefined) state.timers.scheduleBlob(uri, later);
}
