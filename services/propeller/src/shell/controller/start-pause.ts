/**
 * Share of the event loop in which one workflow may start nodes beside other workflows. The other
 * services and propeller's own publishing take several times as long for a start.
 */
const MAX_START_SHARE = 0.1;

/**
 * Pauses one workflow's starts of nodes beside other workflows: they take at most a share of the
 * event loop's time.
 */
export class StartPause {
  #until = 0;

  /** End of the pause, ms since the epoch; 0 without one. */
  get until(): number {
    return this.#until;
  }

  /** Notes that starts lasted from `startedAt` until `now`; `shared`: beside other workflows. */
  record({ startedAt, now, shared }: { readonly startedAt: number; readonly now: number; readonly shared: boolean }): void {
    this.#until = shared ? now + (now - startedAt) * (1 / MAX_START_SHARE - 1) : 0;
  }
}
