import { EVENT_STREAM, TASK_STREAM } from "@flyte-ts/domain";
import type { Bus } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import type { Controller } from "./controller.js";
import type { Ears } from "./ears.js";

export interface HoldingOptions {
  readonly bus: Bus;
  readonly logger: Logger;
  readonly controller: Controller;
  readonly ears: Ears;
}

/** Makes the controller and the event consumer follow the shards that this process holds. */
export class Holding {
  readonly #held = new Set<number>();
  /** Serializes changes, however fast shards change hands; changes that arrive meanwhile are combined. */
  #change: Promise<void> = Promise.resolve();
  #due = false;
  #prepared = false;

  constructor(private readonly options: HoldingOptions) {}

  gained(shard: number): void {
    this.#held.add(shard);
    this.#follow();
  }

  /** Drops the runs before it returns; resolves when no work of the shard is in progress. */
  lost(shard: number): Promise<void> {
    this.#held.delete(shard);
    const dropped = this.options.controller.drop(shard);
    this.#follow();
    return dropped;
  }

  async close(): Promise<void> {
    this.#held.clear();
    this.#follow();
    await this.#change;
  }

  #follow(): void {
    if (this.#due) return;
    this.#due = true;
    this.#change = this.#change
      .then(() => {
        this.#due = false;
        return this.#reconcile();
      })
      .catch((error: unknown) => this.options.logger.error({ error: String(error) }, "following the shards failed"));
  }

  async #reconcile(): Promise<void> {
    const { bus, controller, ears, logger } = this.options;
    if (!this.#prepared) {
      await bus.ensureStream(TASK_STREAM);
      await bus.ensureStream(EVENT_STREAM);
      // Earlier versions had one shared consumer.
      await bus.removeConsumer(EVENT_STREAM.name, "propeller");
      this.#prepared = true;
    }
    const held = new Set(this.#held);
    const fresh = [...held].filter((shard) => !controller.shards.has(shard));
    if (fresh.length > 0) logger.info({ gained: fresh, shards: held.size }, "shards gained");
    // Opens the watches, then subscribes to events, then starts the runs, whose resent requests cause events.
    const opened = await Promise.all(fresh.map((shard) => controller.open(shard)));
    await ears.follow(held);
    for (const shard of opened) shard.begin();
  }
}
