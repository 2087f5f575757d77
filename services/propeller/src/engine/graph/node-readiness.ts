/**
 * Progress of a node's neighbours in the graph, and which steps of the node may have run ahead of
 * the status.
 */
export class NodeReadiness {
  /** Upstream nodes that have not ended. */
  pendingUpstream: number;
  /** Upstream nodes that ended without success. */
  unsuccessfulUpstream = 0;
  /** Consumers that have not ended. */
  consumers: number;
  /**
   * Observation in which the node became ready. A start in a later observation waits for the status
   * to be durable.
   */
  readyAtObservation = -1;
  /**
   * The attempt ran when this process loaded the workflow: a later step may have started without
   * being written.
   */
  maybeAheadOfStatus = false;
  /**
   * The node may have succeeded before this process loaded the workflow, and dependents may have
   * started.
   */
  maybeSucceeded = false;
  /**
   * The node became ready by the end of a node that may have ended before the restart, and could
   * not start at once. It may therefore have started before the restart as well.
   */
  maybeStarted = false;

  constructor(pendingUpstream: number, consumers: number) {
    this.pendingUpstream = pendingUpstream;
    this.consumers = consumers;
  }

  /** Counts the end of an upstream node. */
  upstreamEnded(hasSucceeded: boolean): void {
    this.pendingUpstream--;
    if (!hasSucceeded) this.unsuccessfulUpstream++;
  }

  /** Replaces the counts, which a scan has derived. */
  recount(pendingUpstream: number, unsuccessfulUpstream: number): void {
    this.pendingUpstream = pendingUpstream;
    this.unsuccessfulUpstream = unsuccessfulUpstream;
  }

  consumerEnded(): void {
    this.consumers--;
  }

  /** Notes the first observation in which the node is ready. */
  markReady(observation: number): void {
    if (this.readyAtObservation < 0) this.readyAtObservation = observation;
  }

  setMaybeAheadOfStatus(maybe: boolean): void {
    this.maybeAheadOfStatus = maybe;
  }

  setMaybeSucceeded(maybe: boolean): void {
    this.maybeSucceeded = maybe;
  }

  /** Notes that the node may have started before a restart, if `maybe`; never reverts that. */
  addMaybeStarted(maybe: boolean): void {
    this.maybeStarted ||= maybe;
  }

  /** Resets the node to its state before the start; the counts stay. */
  reset(): void {
    this.readyAtObservation = -1;
    this.maybeAheadOfStatus = false;
    this.maybeSucceeded = false;
    this.maybeStarted = false;
  }
}
