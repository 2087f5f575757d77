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

/** Makes the controller and the ears follow the shards that this process holds. */
export class Holding {
  readonly #held = new Set<number>();
  /** Changes follow each other, however fast shards change hands; those that come meanwhile are made together. */
  #change: Promise<void> = Promise.resolve();
  #due = false;
  #prepared = false;

  constructor(private readonly options: HoldingOptions) {}

  gained(shard: number): void {
    this.#held.add(shard);
    this.#follow();
  }

  /** The runs are dropped before this returns; it resolves when nothing of the shard is under way. */
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
      // Of versions that had one consumer for all.
      await bus.removeConsumer(EVENT_STREAM.name, "propeller");
      this.#prepared = true;
    }
    const held = new Set(this.#held);
    const fresh = [...held].filter((shard) => !controller.shards.has(shard));
    if (fresh.length > 0) logger.info({ gained: fresh, shards: held.size }, "shards gained");
    // First it is known which workflows there are, then their events are heard, then they are taken up, which asks for events.
    const opened = await Promise.all(fresh.map((shard) => controller.open(shard)));
    await ears.follow(held);
    for (const shard of opened) shard.begin();
  }
}
