import { EVENT_STREAM, TASK_STREAM } from "@flyte-ts/bus-contract";
import type { Bus } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import type { Controller } from "./controller.js";
import type { EventConsumer } from "./event-consumer.js";

export interface ShardAssignmentOptions {
  readonly bus: Bus;
  readonly logger: Logger;
  readonly controller: Controller;
  readonly events: EventConsumer;
}

/** Makes the controller and the event consumer follow the shards that this process holds. */
export class ShardAssignment {
  readonly #held = new Set<number>();
  /**
   * Serializes changes, however fast shards change hands; changes that arrive meanwhile are
   * combined.
   */
  #reconciling: Promise<void> = Promise.resolve();
  #reconcileScheduled = false;
  #streamsEnsured = false;

  constructor(private readonly options: ShardAssignmentOptions) {}

  onGained(shard: number): void {
    this.#held.add(shard);
    this.#scheduleReconcile();
  }

  /** Drops the runs before it returns; resolves when no work of the shard is in progress. */
  onLost(shard: number): Promise<void> {
    this.#held.delete(shard);
    const dropped = this.options.controller.closeShard(shard);
    this.#scheduleReconcile();
    return dropped;
  }

  async close(): Promise<void> {
    this.#held.clear();
    this.#scheduleReconcile();
    await this.#reconciling;
  }

  #scheduleReconcile(): void {
    if (this.#reconcileScheduled) return;
    this.#reconcileScheduled = true;
    this.#reconciling = this.#reconciling
      .then(() => {
        this.#reconcileScheduled = false;
        return this.#reconcile();
      })
      .catch((error: unknown) => this.options.logger.error({ error: String(error) }, "updating the watches of shards failed"));
  }

  async #reconcile(): Promise<void> {
    const { bus, controller, events, logger } = this.options;
    if (!this.#streamsEnsured) {
      await bus.ensureStream(TASK_STREAM);
      await bus.ensureStream(EVENT_STREAM);
      // Earlier versions had one shared consumer.
      await bus.removeConsumer(EVENT_STREAM.name, "propeller");
      this.#streamsEnsured = true;
    }
    const held = new Set(this.#held);
    const gained = [...held].filter((shard) => !controller.shards.has(shard));
    if (gained.length > 0) logger.info({ gained, shards: held.size }, "shards gained");
    // Opens the watches, then subscribes to events, then starts the runs, whose resent requests
    // cause events.
    const opened = await Promise.all(gained.map((shard) => controller.openShard(shard)));
    await events.setShards(held);
    for (const shard of opened) shard.start();
  }
}
