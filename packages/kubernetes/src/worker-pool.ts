import { setImmediate as turn } from "node:timers/promises";
import type { Logger } from "@flyte-ts/telemetry";
import type { WorkQueue } from "./work-queue.js";

export interface WorkerPoolOptions {
  readonly queue: WorkQueue;
  /** Number of keys worked on concurrently. */
  readonly workers: number;
  /** The time until its first await counts as used by the key. */
  readonly work: (key: string) => Promise<void>;
  /** Called when a round failed, to requeue the key. */
  readonly onError: (key: string, error: unknown) => void;
  readonly logger: Logger;
}

/**
 * Time of synchronous work before the pool yields to the event loop, ms: otherwise rounds that only compute would delay
 * timers and sockets.
 */
const LONGEST_TURN_MS = 4;

/** A bounded number of workers that take keys from a queue; two never have the same key. */
export class WorkerPool {
  readonly #workers: Promise<void>[] = [];
  #busy = 0;
  /** Time used since the last yield. */
  #usedMs = 0;
  #nextTurn: Promise<void> | undefined;

  constructor(private readonly options: WorkerPoolOptions) {
    for (let i = 0; i < options.workers; i++) this.#workers.push(this.#run());
  }

  get free(): number {
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
      if (queue.depth === 0) await queue.filled();
      // Many workers may arrive at once: none takes a key when the turn is used up, so that the queue chooses only when there is time.
      else if (this.#usedMs >= LONGEST_TURN_MS) await (this.#nextTurn ??= this.#yield());
      else await this.#work(queue.take() as string);
    }
  }

  async #yield(): Promise<void> {
    await turn();
    this.#usedMs = 0;
    this.#nextTurn = undefined;
  }

  async #work(key: string): Promise<void> {
    const { queue, work, onError, logger } = this.options;
    const began = performance.now();
    let usedMs = 0;
    this.#busy++;
    try {
      const working = work(key);
      usedMs = performance.now() - began;
      this.#usedMs += usedMs;
      await working;
    } catch (error) {
      logger.error({ key, error: error instanceof Error ? error.stack : String(error) }, "round failed");
      onError(key, error);
    } finally {
      this.#busy--;
      queue.done(key, usedMs);
    }
  }
}
