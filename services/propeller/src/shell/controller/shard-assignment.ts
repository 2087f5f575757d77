import { EVENT_STREAM, TASK_STREAM } from "@flyte-ts/bus-contract";
import type { Bus } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import type { Controller } from "./controller.js";
import type { EventConsumer } from "./event-consumer.js";
import type { Shard } from "./shard.js";

type OpenShard = Pick<Shard, "start">;

export interface ShardAssignmentOptions {
  readonly bus: Pick<Bus, "ensureStream" | "removeConsumer">;
  readonly logger: Logger;
  readonly controller: Pick<Controller, "shards" | "closeShard"> & { openShard(shard: number): Promise<OpenShard> };
  readonly events: Pick<EventConsumer, "setShards">;
  /** Delay before a failed change is tried again, ms. Default 1 s. */
  readonly retryMs?: number;
}

/** Makes the controller and the event consumer follow the shards that this process holds. */
export class ShardAssignment {
  readonly #held = new Set<number>();
  /** Shards that come back after a lapse of the membership, until they are open. */
  readonly #regained = new Set<number>();
  /**
   * Serializes changes, however fast shards change hands; changes that arrive meanwhile are
   * combined.
   */
  #reconciling: Promise<void> = Promise.resolve();
  #reconcileScheduled = false;
  #streamsEnsured = false;
  #closed = false;
  /** Shards whose watches are open, until their events are consumed. */
  readonly #unstarted = new Set<OpenShard>();

  constructor(private readonly options: ShardAssignmentOptions) {}

  /** @param regained true after a lapse of the membership, which is logged once for all shards */
  onGained(shard: number, regained = false): void {
    this.#held.add(shard);
    if (regained) this.#regained.add(shard);
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
    this.#closed = true;
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
      .catch((error: unknown) => this.#onFailure(error));
  }

  #onFailure(error: unknown): void {
    const { logger, retryMs = 1_000 } = this.options;
    if (this.#closed) return;
    logger.error({ error: String(error) }, "cannot start the shards of this process; retrying");
    setTimeout(() => this.#scheduleReconcile(), retryMs).unref();
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
    const assigned = gained.filter((shard) => !this.#regained.has(shard));
    if (assigned.length > 0) logger.info({ gained: assigned, shards: held.size }, "shards gained");
    this.#regained.clear();
    // Opens the watches, then subscribes to events, then starts the runs, whose resent requests
    // cause events.
    for (const shard of await Promise.all(gained.map((shard) => controller.openShard(shard)))) this.#unstarted.add(shard);
    await events.setShards(held);
    for (const shard of this.#unstarted) shard.start();
    this.#unstarted.clear();
  }
}
