/** A semaphore; waiting tasks run in the order of their calls. */
export class Semaphore {
  #free: number;
  // A ring buffer would be faster for thousands of waiting tasks; callers have few.
  readonly #waiting: (() => void)[] = [];

  /** @param permits maximum number of tasks that run at the same time */
  constructor(permits: number) {
    this.#free = permits;
  }

  /** Number of tasks that wait for a permit. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs the task when a permit is free. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      // Hands the permit over: a caller that comes in between cannot overtake.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
