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
 * sockets, ms. With few keys the limit is short, because a key waits for the turns of others. A
 * turn with many keys, and with short rounds only, is longer: messages of one turn are published as
 * one, and each key uses little of a turn.
 */
const MAX_BLOCKING_MS = { short: 4, manyKeys: 20 };
/** Number of waiting keys that counts as many. */
const MANY_KEYS = 16;
/** Synchronous time of a long round, ms. */
const LONG_ROUND_MS = 2;

/**
 * Works on a bounded number of keys of a queue at a time; never twice on the same key. Takes keys
 * as long as a turn of the event loop has time left, so that the queue chooses only when there is
 * time.
 */
export class WorkerPool {
  #busy = 0;
  /** Time used since the last yield. */
  #usedMs = 0;
  /** Many keys were queued since the last yield. */
  #hadManyKeys = false;
  #hadLongRound = false;
  #scheduled = false;
  #onIdle: (() => void) | undefined;

  constructor(private readonly options: WorkerPoolOptions) {
    options.queue.setListener(() => this.#schedule());
    this.#schedule();
  }

  get idleWorkers(): number {
    return this.options.workers - this.#busy;
  }

  /** Takes no further keys and resolves when the running rounds have ended. */
  async stop(): Promise<void> {
    this.options.queue.close();
    if (this.#busy > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Takes keys when the caller has returned, so that all keys it adds are queued. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(this.#takeKeys);
  }

  readonly #takeKeys = (): void => {
    const { queue, workers } = this.options;
    this.#scheduled = false;
    if (queue.depth >= MANY_KEYS) this.#hadManyKeys = true;
    while (queue.depth > 0 && this.#busy < workers) {
      if (this.#usedMs >= this.#maxBlockingMs) {
        this.#yield();
        return;
      }
      this.#process(queue.get() as string);
    }
  };

  get #maxBlockingMs(): number {
    return this.#hadManyKeys && !this.#hadLongRound ? MAX_BLOCKING_MS.manyKeys : MAX_BLOCKING_MS.short;
  }

  /** Takes further keys after a turn of the event loop. */
  #yield(): void {
    this.#scheduled = true;
    setImmediate(() => {
      this.#usedMs = 0;
      this.#hadManyKeys = false;
      this.#hadLongRound = false;
      this.#takeKeys();
    });
  }

  #process(key: string): void {
    const startedAt = performance.now();
    this.#busy++;
    const reconciling = this.#reconcile(key);
    const usedMs = performance.now() - startedAt;
    this.#usedMs += usedMs;
    if (usedMs >= LONG_ROUND_MS) this.#hadLongRound = true;
    void reconciling.then(() => {
      this.#busy--;
      this.options.queue.done(key, usedMs);
      if (this.#busy === 0) this.#onIdle?.();
      this.#schedule();
    });
  }

  /** Resolves when the key is processed, or when its failure is reported. */
  async #reconcile(key: string): Promise<void> {
    const { reconcile, onError, logger } = this.options;
    try {
      await reconcile(key);
    } catch (error) {
      logger.error({ key, error: error instanceof Error ? error.stack : String(error) }, "reconcile failed");
      onError(key, error);
    }
  }
}
