import { DelayQueue, type Time } from "@flyte-ts/async";

/** Schedules any number of alarms, by key, with one timer. */
export class Alarms {
  #queue = new DelayQueue<string>();
  #callOff: (() => void) | undefined;
  /** ms since the epoch. */
  #armedFor = Number.POSITIVE_INFINITY;

  constructor(
    private readonly clock: Time,
    private readonly ring: (key: string) => void,
  ) {}

  /** Sets the key's alarm to a time, ms since the epoch, replacing an earlier one. */
  set(key: string, at: number): void {
    this.#queue.set(key, at);
    this.#arm();
  }

  /** Cancels an alarm; true when it existed. */
  callOff(key: string): boolean {
    return this.#queue.delete(key);
  }

  stop(): void {
    this.#callOff?.();
    this.#callOff = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
    this.#queue = new DelayQueue();
  }

  #arm(): void {
    const first = this.#queue.nextDueAt();
    if (first === undefined || first >= this.#armedFor) return;
    this.#callOff?.();
    this.#armedFor = first;
    this.#callOff = this.clock.schedule(Math.max(0, first - this.clock.now()), () => this.#due());
  }

  #due(): void {
    this.#armedFor = Number.POSITIVE_INFINITY;
    this.#callOff = undefined;
    const now = this.clock.now();
    for (let key = this.#queue.popDue(now); key !== undefined; key = this.#queue.popDue(now)) this.ring(key);
    this.#arm();
  }
}
