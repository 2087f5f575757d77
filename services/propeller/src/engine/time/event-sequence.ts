/**
 * Numbers the events of one execution in ascending order, also across restarts, without stored
 * state: the number is at least the time in microseconds.
 */
export class EventSequence {
  #last = 0;

  next(now: number): bigint {
    this.#last = Math.max(this.#last + 1, Math.floor(now) * 1000);
    return BigInt(this.#last);
  }
}
