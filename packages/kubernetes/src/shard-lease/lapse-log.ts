import type { Logger } from "@flyte-ts/telemetry";

/** Time without a lapse after which a membership counts as stable again, ms. */
export const STABLE_MS = 60_000;

/**
 * Logs lapses of the membership: the first one at once, and the number of all when the membership
 * has been stable for a while. A process without processor time or network may lapse many times.
 */
export class LapseLog {
  #lapses = 0;
  #lastLapseAt = 0;

  constructor(
    private readonly logger: Pick<Logger, "warn" | "info">,
    private readonly clock: () => number,
  ) {}

  /** @param shards number of shards whose work stops */
  onLapse(reason: string, shards: number): void {
    this.#lastLapseAt = this.clock();
    if (this.#lapses++ > 0) return;
    this.logger.warn(
      { reason, shards },
      "the membership of this process lapsed: it stops the work on its shards until it is a member again",
    );
  }

  /**
   * Called periodically while the process is a member.
   *
   * @param shards number of shards that the process holds
   * @returns true when the membership has just become stable again
   */
  onMember(shards: number): boolean {
    if (this.#lapses === 0 || this.clock() - this.#lastLapseAt < STABLE_MS) return false;
    this.logger.info({ lapses: this.#lapses, shards }, "the membership of this process is stable again");
    this.#lapses = 0;
    return true;
  }
}
