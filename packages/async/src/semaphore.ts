import { FairQueue } from "./fair-queue.js";

/** A semaphore. Owners take turns, and an owner's waiting tasks run in the order of their calls. */
export class Semaphore {
  #free: number;
  readonly #waiting = new FairQueue<() => void>();

  /** @param permits maximum number of tasks that run at the same time */
  constructor(permits: number) {
    this.#free = permits;
  }

  /** Number of tasks that wait for a permit. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs the task when a permit is free.
   *
   * @param owner name of the caller whose tasks wait in one queue
   */
  async run<T>(task: () => Promise<T>, owner = ""): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(owner, resolve));
    try {
      return await task();
    } finally {
      // Hands the permit over: a caller that comes in between cannot overtake.
      const next = this.#waiting.dequeue();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
