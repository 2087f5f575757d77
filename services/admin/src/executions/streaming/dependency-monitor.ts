import type { Bus } from "@flyte-ts/messaging";
import { isUnavailable, type Queryable } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import type { StreamLimiter } from "./stream-limiter.js";

export interface DependencyMonitorDeps {
  readonly db: Queryable;
  readonly bus: Pick<Bus, "unhealthyReason">;
  readonly logger: Logger;
}

interface DependencyMonitorOptions {
  readonly streams: StreamLimiter;
  /** Is called when the dependencies are back: notifications of changes may have been lost. */
  readonly onRecovered: () => void;
}

/** Interval between checks, ms. */
const CHECK_MS = 1_000;

/**
 * Checks the database and the message bus while streams are open. Admin sees no change without
 * them: streams end, so that their clients know that what they show is old.
 */
export class DependencyMonitor {
  readonly #deps: DependencyMonitorDeps;
  readonly #options: DependencyMonitorOptions;
  readonly #timer: NodeJS.Timeout;
  #outage: string | undefined;
  #isChecking = false;

  constructor(deps: DependencyMonitorDeps, options: DependencyMonitorOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#timer = setInterval(() => void this.check(), CHECK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Interrupts the streams when a dependency is missing, and resumes them when all are back. */
  async check(): Promise<void> {
    const { streams, onRecovered } = this.#options;
    if (this.#isChecking || (streams.size === 0 && this.#outage === undefined)) return;
    this.#isChecking = true;
    const before = this.#outage;
    this.#outage = await this.#findOutage();
    this.#isChecking = false;
    if (before === undefined && this.#outage !== undefined) {
      this.#deps.logger.warn({ reason: this.#outage, streams: streams.size }, "ending streams: changes cannot be seen");
      streams.interrupt(this.#outage);
    } else if (before !== undefined && this.#outage === undefined) {
      this.#deps.logger.info("accepting streams again");
      streams.resume();
      onRecovered();
    }
  }

  async #findOutage(): Promise<string | undefined> {
    const reason = this.#deps.bus.unhealthyReason();
    if (reason !== undefined) return reason;
    try {
      await this.#deps.db.query({ text: "SELECT 1" });
      return undefined;
    } catch (error) {
      return isUnavailable(error) ? "the database does not answer" : this.#outage;
    }
  }
}
