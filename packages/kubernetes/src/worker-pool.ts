import { setImmediate as turn } from "node:timers/promises";
import type { Logger } from "@flyte-ts/telemetry";
import type { WorkQueue } from "./work-queue.js";

export interface WorkerPoolOptions {
  readonly queue: WorkQueue;
  /** Keys worked on at once. */
  readonly workers: number;
  readonly work: (key: string) => Promise<void>;
  /** A round failed: decide when the key comes back. */
  readonly onError: (key: string, error: unknown) => void;
  readonly logger: Logger;
}

/** After so long without one, the event loop gets its turn: rounds that only compute would keep out timers and sockets. */
const LONGEST_TURN_MS = 20;

/** A bounded number of workers that take keys from a queue; no two ever have one key. */
export class WorkerPool {
  readonly #workers: Promise<void>[] = [];
  #busy = 0;
  #turnBegan = performance.now();

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
    const { queue, work, onError, logger } = this.options;
    for (;;) {
      const key = await queue.take();
      if (key === undefined) return;
      if (performance.now() - this.#turnBegan > LONGEST_TURN_MS) {
        await turn();
        this.#turnBegan = performance.now();
      }
      this.#busy++;
      try {
        await work(key);
      } catch (error) {
        logger.error({ key, error: error instanceof Error ? error.stack : String(error) }, "round failed");
        onError(key, error);
      } finally {
        this.#busy--;
        queue.done(key);
      }
    }
  }
}
