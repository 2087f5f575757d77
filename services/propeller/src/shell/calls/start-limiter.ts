/**
 * Limits the tasks that start in one turn of the event loop. Answers that arrive together would
 * otherwise start as many calls before the messages of other executions are read.
 */
export class StartLimiter {
  #left: number;
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** @param limit maximum number of starts per turn */
  constructor(private readonly limit: number) {
    this.#left = limit;
  }

  /** Runs the task in this turn or, in order, in a later one. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    this.#schedule();
    if (this.#left > 0) this.#left--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return task();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#onTurn());
  }

  #onTurn(): void {
    const started = this.#waiting.splice(0, this.limit);
    this.#left = this.limit - started.length;
    this.#isScheduled = false;
    if (started.length > 0) this.#schedule();
    for (const start of started) start();
  }
}
