/** Lets so many in at once; the others wait in the order in which they came. */
export class PublishWindow {
  #inside = 0;
  #waiting: (() => void)[] = [];
  /** Of `waiting`, so many have gone in. */
  #gone = 0;

  constructor(private readonly most: number) {}

  /** Goes in if there is room and nobody waits: then the order is that of the calls. */
  tryEnter(): boolean {
    if (this.#inside >= this.most) return false;
    this.#inside++;
    return true;
  }

  /** Resolves when there is room. */
  enter(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  leave(): void {
    const next = this.#waiting[this.#gone];
    if (next === undefined) {
      this.#inside--;
      return;
    }
    this.#gone++;
    // Taken off in large pieces: one by one would move all the others each time.
    if (this.#gone > 1_000 && this.#gone > this.#waiting.length / 2) {
      this.#waiting = this.#waiting.slice(this.#gone);
      this.#gone = 0;
    }
    next();
  }
}
