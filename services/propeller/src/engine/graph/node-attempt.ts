import type { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/** Request to the plugin service for the running attempt. */
export interface TaskRequestState {
  readonly desired: DesiredState;
  /** Time of the last send, ms. */
  readonly sentAt: number;
  /** Time of the last new report of the plugin service, ms. */
  readonly lastEventAt: number;
  /** Number of sends since the last new report. */
  readonly sendCount: number;
}

/**
 * The current attempt of a node. Times in ms; after a restart they have the precision of the stored
 * status.
 */
export class NodeAttempt {
  request: TaskRequestState | undefined;
  queuedAt: number | undefined;
  startedAt: number | undefined;
  /** Time since which the attempt is reported as waiting for a plugin service. */
  blockedSince: number | undefined;
  /** Time at which a sleeping gate opens. */
  gateOpensAt: number | undefined;
  /** Time at which the current attempt superseded the last one. */
  supersededAt: number | undefined;
  /** Reported end of the last ended attempt, by the plugin service's clock. */
  terminalReportedAt: number | undefined;
  /** Time of the last abort sent in reply to a report of an ended attempt. */
  zombieAbortedAt = 0;

  /** Counts a send of the request. */
  requestSent(desired: DesiredState, now: number): void {
    const { request } = this;
    this.request =
      request?.desired === desired
        ? { desired, sentAt: now, lastEventAt: request.lastEventAt, sendCount: request.sendCount + 1 }
        : { desired, sentAt: now, lastEventAt: now, sendCount: 1 };
  }

  /** Notes a report of the plugin service. */
  reported(now: number): void {
    if (this.request !== undefined) this.request = { ...this.request, lastEventAt: now };
  }

  /** Notes a report with new information: resends start again with the shortest delay. */
  progressed(): void {
    if (this.request !== undefined) this.request = { ...this.request, sendCount: 1 };
  }

  /** Ends the request: the attempt has ended. */
  closeRequest(): void {
    this.request = undefined;
  }

  /** Notes the attempt's reported end; `at` is by the plugin service's clock, ms. */
  terminalReported(at: number): void {
    this.terminalReportedAt = at;
  }

  zombieAborted(now: number): void {
    this.zombieAbortedAt = now;
  }

  queued(now: number): void {
    this.queuedAt = now;
  }

  started(now: number): void {
    this.startedAt = now;
  }

  /** Notes the time from which the attempt is blocked, unless it is blocked already. */
  blocked(now: number | undefined): void {
    this.blockedSince ??= now;
  }

  unblocked(): void {
    this.blockedSince = undefined;
  }

  sleepUntil(at: number): void {
    this.gateOpensAt = at;
  }

  superseded(at: number | undefined): void {
    this.supersededAt = at;
  }

  /** Resets the times for the next attempt. */
  startNext(now: number): void {
    this.supersededAt ??= now;
    this.startedAt = undefined;
    this.blockedSince = undefined;
  }

  /** Sets the times of a stored attempt. */
  restore({ queuedAt, startedAt, supersededAt }: Pick<NodeAttempt, "queuedAt" | "startedAt" | "supersededAt">): void {
    this.queuedAt = queuedAt;
    this.startedAt = startedAt;
    this.supersededAt = supersededAt;
  }

  /**
   * True when no later report depends on this record: no attempt was ended by a report, superseded,
   * or aborted as a zombie.
   */
  get isForgettable(): boolean {
    return this.terminalReportedAt === undefined && this.supersededAt === undefined && this.zombieAbortedAt === 0;
  }

  /** Resets the times; the node starts again. */
  reset(): void {
    this.queuedAt = undefined;
    this.startedAt = undefined;
    this.blockedSince = undefined;
    this.gateOpensAt = undefined;
    this.supersededAt = undefined;
    this.terminalReportedAt = undefined;
  }
}
