import type { Bus } from "@flyte-ts/messaging";
import { isUnavailable, type Queryable } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import type { StreamLimiter } from "./stream-limiter.js";

export interface DependencyMonitorDeps {
  readonly db: Queryable;
  readonly bus: Pick<Bus, "unhealthyReason" | "onConnectionChange">;
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
  readonly #removeListener: () => void;
  #outage: string | undefined;
  #isChecking = false;

  constructor(deps: DependencyMonitorDeps, options: DependencyMonitorOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#timer = setInterval(() => void this.check(), CHECK_MS).unref();
    this.#removeListener = deps.bus.onConnectionChange(() => this.#onBusChange());
  }

  close(): void {
    clearInterval(this.#timer);
    this.#removeListener();
  }

  /** Interrupts the streams when a dependency is missing, and resumes them when all are back. */
  async check(): Promise<void> {
    const { streams, onRecovered } = this.#options;
    if (this.#isChecking || (streams.size === 0 && this.#outage === undefined)) return;
    this.#isChecking = true;
    const outage = await this.#findOutage();
    this.#isChecking = false;
    if (outage !== undefined) this.#begin(outage);
    else if (this.#outage !== undefined) {
      this.#outage = undefined;
      this.#deps.logger.info("accepting streams again");
      streams.resume();
      onRecovered();
    }
  }

  /** Begins an outage at once: notifications are lost however soon the bus is back. */
  #onBusChange(): void {
    const reason = this.#deps.bus.unhealthyReason();
    if (reason === undefined) void this.check();
    else this.#begin(reason);
  }

  #begin(reason: string): void {
    const isNew = this.#outage === undefined;
    this.#outage = reason;
    if (!isNew) return;
    const { streams } = this.#options;
    this.#deps.logger.warn({ reason, streams: streams.size }, "ending streams: changes cannot be seen");
    streams.interrupt(reason);
  }

  async #findOutage(): Promise<string | undefined> {
    const { bus, db } = this.#deps;
    if (bus.unhealthyReason() === undefined) {
      try {
        await db.query({ text: "SELECT 1" });
      } catch (error) {
        return isUnavailable(error) ? "the database does not answer" : this.#outage;
      }
    }
    return bus.unhealthyReason();
  }
}
