import { DelayQueue, type Time } from "@flyte-ts/async";

/** Calls back for any number of items at their times, with one timer. */
export class StepTimer<T> {
  #queue = new DelayQueue<T>();
  #cancel: (() => void) | undefined;
  #armedFor = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor(
    private readonly clock: Pick<Time, "elapsed" | "schedule">,
    private readonly onDue: (item: T) => void,
  ) {}

  /** Sets the time of an item, replacing an earlier one. */
  set(item: T, delayMs: number): void {
    if (this.#stopped) return;
    this.#queue.set(item, this.clock.elapsed() + delayMs);
    this.#arm();
  }

  delete(item: T): void {
    this.#queue.delete(item);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#queue = new DelayQueue();
  }

  #arm(): void {
    const dueAt = this.#queue.nextDueAt();
    if (dueAt === undefined || dueAt >= this.#armedFor) return;
    this.#cancel?.();
    this.#armedFor = dueAt;
    this.#cancel = this.clock.schedule(Math.max(0, dueAt - this.clock.elapsed()), () => this.#ring());
  }

  #ring(): void {
    this.#armedFor = Number.POSITIVE_INFINITY;
    this.#cancel = undefined;
    const now = this.clock.elapsed();
    for (let item = this.#queue.popDue(now); item !== undefined; item = this.#queue.popDue(now)) this.onDue(item);
    this.#arm();
  }
}
