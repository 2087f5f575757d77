import type { RuntimeNode } from "../graph/runtime.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { proceed } from "./begin.js";
import { inputPlace } from "./input-place.js";
import { noticeBlob } from "./noticing.js";
import { land } from "./landing.js";
import type { BlobTimer, Walk } from "./walk.js";

/** Handles the result of a write; a failed one is retried. */
export function blobWritten(walk: Walk, uri: string, error: string | undefined): void {
  const write = walk.writes.get(uri);
  if (write === undefined) return;
  if (error !== undefined) {
    write.retryAt = walk.now + backoffDelay(walk.config.blobRetry, write.tries++, walk.config.random);
    walk.timers.set(timerOf(walk, uri), write.retryAt);
    noticeBlob(walk, uri, `${uri}: ${error}`);
    return;
  }
  walk.writes.delete(uri);
  const { node } = write;
  node.writes?.delete(uri);
  if (node.writes === undefined || node.writes.size > 0) return;
  node.writes = undefined;
  goOn(walk, node);
}

function goOn(walk: Walk, node: RuntimeNode): void {
  if (node.stopping !== undefined) {
    walk.look(node);
    return;
  }
  if (node.pendingOutputs !== undefined) {
    land(walk, node);
    return;
  }
  // When messages carry the inputs too, the file is not needed for reading.
  node.inputsWritten = node.inputs === undefined || inputPlace(walk, node, node.inputs) !== "message";
  if (node.inputs !== undefined) proceed(walk, node, node.inputs);
}

/** Retries the read or write of a blob if it is due. */
export function blobDue(walk: Walk, { blob: uri }: BlobTimer): void {
  const write = walk.writes.get(uri);
  if (write?.retryAt !== undefined && write.retryAt <= walk.now) {
    write.retryAt = undefined;
    walk.emit({ kind: "writeOutputs", uri, outputs: write.literals });
  }
  const effect = walk.blobs.again(uri, walk.now);
  if (effect !== undefined) walk.emit(effect);
  // A second failure may have postponed the retry since the timer was set.
  for (const later of [write?.retryAt, walk.blobs.retryAt(uri)]) if (later !== undefined) walk.timers.set(timerOf(walk, uri), later);
}

/** The single timer subject of a blob. */
export function timerOf(walk: Walk, uri: string): BlobTimer {
  let timer = walk.blobTimers.get(uri);
  if (timer === undefined) {
    timer = { blob: uri };
    walk.blobTimers.set(uri, timer);
  }
  return timer;
}
