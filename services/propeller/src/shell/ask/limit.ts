/** Lets at most `most` calls run at once; the others wait for their turn, first come first served. */
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
      // Whoever waited takes the place over.
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
