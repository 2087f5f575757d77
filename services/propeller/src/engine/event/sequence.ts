/**
 * Numbers events of one execution upwards, over restarts too, without keeping
 * anything: the number is at least the time in microseconds.
 */
export class EventSequence {
  #last = 0;

  next(now: number): bigint {
    this.#last = Math.max(this.#last + 1, Math.floor(now) * 1000);
    return BigInt(this.#last);
  }
}
