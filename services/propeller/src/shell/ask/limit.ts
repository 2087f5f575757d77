/** Semaphore: at most `most` calls run concurrently; the others wait in FIFO order. */
export class Limit {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly most: number) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // A waiting call takes over the permit.
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
