/** Position of a node between its start and its end, and the queues that hold it. */
export class NodeLifecycle {
  /** Started: holds its slot, counts as live. */
  started = false;
  /** Ended, possibly without a terminal phase when it was aborted. */
  ended = false;
  /** ms. */
  endedAt: number | undefined;
  /** Counts against the parallelism limit. */
  holdsSlot = false;
  /** In the queue of nodes to reconcile. */
  inNodeQueue = false;
  /** In the queue of nodes that wait for capacity. */
  inStartQueue = false;
  /** Reason of the node's abort; undefined while the node is not being aborted. */
  abortReason: string | undefined;

  start(takesSlot: boolean): void {
    this.started = true;
    this.holdsSlot = takesSlot;
  }

  /** `at` in ms; undefined when no process observed the end. */
  end(at: number | undefined): void {
    this.ended = true;
    this.endedAt = at;
  }

  releaseSlot(): void {
    this.holdsSlot = false;
  }

  setInNodeQueue(queued: boolean): void {
    this.inNodeQueue = queued;
  }

  setInStartQueue(queued: boolean): void {
    this.inStartQueue = queued;
  }

  abort(reason: string): void {
    this.abortReason = reason;
  }

  /** Clears the abort, which is complete or came after the node's success. */
  clearAbort(): void {
    this.abortReason = undefined;
  }

  /** Resets the node to its state before the start. */
  reset(): void {
    this.started = false;
    this.ended = false;
    this.endedAt = undefined;
  }
}
