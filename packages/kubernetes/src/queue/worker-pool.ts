import { setImmediate as turn } from "node:timers/promises";
import type { Logger } from "@flyte-ts/telemetry";
import type { WorkQueue } from "./work-queue.js";

export interface WorkerPoolOptions {
  readonly queue: WorkQueue;
  /** Number of keys worked on concurrently. */
  readonly workers: number;
  /** Processes a key. The synchronous time before its first await is charged to the key. */
  readonly reconcile: (key: string) => Promise<void>;
  /** Called when `reconcile` failed, to requeue the key. */
  readonly onError: (key: string, error: unknown) => void;
  readonly logger: Logger;
}

/**
 * Limits the synchronous work of a turn before the pool yields to the event loop's timers and
 * sockets, ms. With few keys the limit is short, because a key waits for the turns of others. With
 * many keys it is longer: messages of one turn are published as one, and each key uses little of a
 * turn.
 */
const MAX_BLOCKING_MS = { fewKeys: 4, manyKeys: 20 };
/** Number of waiting keys that counts as many. */
const MANY_KEYS = 16;

/** A bounded number of workers that take keys from a queue; two never have the same key. */
export class WorkerPool {
  readonly #workers: Promise<void>[] = [];
  #busy = 0;
  /** Time used since the last yield. */
  #usedMs = 0;
  #yielding: Promise<void> | undefined;

  constructor(private readonly options: WorkerPoolOptions) {
    for (let i = 0; i < options.workers; i++) this.#workers.push(this.#run());
  }

  get idleWorkers(): number {
    return this.options.workers - this.#busy;
  }

  /** Takes no further keys and resolves when the running rounds have ended. */
  async stop(): Promise<void> {
    this.options.queue.close();
    await Promise.all(this.#workers);
  }

  async #run(): Promise<void> {
    const { queue } = this.options;
    while (!queue.closed) {
      if (queue.depth === 0) await queue.waitUntilNonEmpty();
      // Many workers may arrive at once: none takes a key when the turn is used up, so that the
      // queue chooses only when there is time.
      else if (this.#usedMs >= this.#maxBlockingMs) await (this.#yielding ??= this.#yield());
      else await this.#process(queue.get() as string);
    }
  }

  get #maxBlockingMs(): number {
    return this.options.queue.depth >= MANY_KEYS ? MAX_BLOCKING_MS.manyKeys : MAX_BLOCKING_MS.fewKeys;
  }

  async #yield(): Promise<void> {
    await turn();
    this.#usedMs = 0;
    this.#yielding = undefined;
  }

  async #process(key: string): Promise<void> {
    const { queue, reconcile, onError, logger } = this.options;
    const startedAt = performance.now();
    let usedMs = 0;
    this.#busy++;
    try {
      const reconciling = reconcile(key);
      usedMs = performance.now() - startedAt;
      this.#usedMs += usedMs;
      await reconciling;
    } catch (error) {
      logger.error({ key, error: error instanceof Error ? error.stack : String(error) }, "reconcile failed");
      onError(key, error);
    } finally {
      this.#busy--;
      queue.done(key, usedMs);
    }
  }
}
