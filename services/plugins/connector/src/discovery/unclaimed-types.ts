import type { Time } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";

/**
 * Returns those of the task types whose requests, as the bus shows, no other plugin service has
 * ever received.
 */
export type FindUnclaimed = (taskTypes: readonly string[]) => Promise<ReadonlySet<string>>;

export interface UnclaimedTypesOptions {
  readonly find: FindUnclaimed;
  readonly clock: Pick<Time, "schedule">;
  readonly logger: Pick<Logger, "warn">;
  readonly onFound: () => void;
}

/**
 * Time after the start before the bus is asked, ms: services that start at the same time send their
 * first heartbeats meanwhile.
 */
const SETTLE_MS = 2_000;

/** Task types that a service may take before it has heard the heartbeats of all others. */
export class UnclaimedTypes {
  readonly #found = new Set<string>();
  readonly #waiting = new Set<string>();
  #settled = false;

  constructor(private readonly options: UnclaimedTypesOptions) {}

  start(): void {
    this.options.clock.schedule(SETTLE_MS, () => {
      this.#settled = true;
      this.ask([]);
    });
  }

  has(taskType: string): boolean {
    return this.#found.has(taskType);
  }

  /** Looks for these types on the bus, once the service has settled. */
  ask(taskTypes: readonly string[]): void {
    for (const taskType of taskTypes) if (!this.#found.has(taskType)) this.#waiting.add(taskType);
    if (!this.#settled || this.#waiting.size === 0) return;
    const asked = [...this.#waiting];
    this.#waiting.clear();
    void this.#find(asked);
  }

  /** A failure only delays the types until the heartbeats have been heard. */
  async #find(taskTypes: readonly string[]): Promise<void> {
    const { find, logger, onFound } = this.options;
    try {
      for (const taskType of await find(taskTypes)) this.#found.add(taskType);
      onFound();
    } catch (error) {
      logger.warn(
        { taskTypes, error: String(error) },
        "the bus does not tell which task types other services have; announced types wait for their heartbeats",
      );
    }
  }
}
