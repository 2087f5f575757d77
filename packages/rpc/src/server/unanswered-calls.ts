interface Waiter {
  readonly since: number;
  readonly source: object;
}

/** Calls with incomplete requests, oldest first; bounded in number and in time. */
export class UnansweredCalls<Call extends object> {
  readonly #waiters = new Map<Call, Waiter>();
  readonly #counts = new Map<object, number>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /**
   * Adds a call. When too many calls wait, the connection with the most of them loses its oldest
   * one, so that a client with many open requests does not exclude others.
   *
   * @param source the connection of the call
   * @returns the call to refuse, which may be the new one itself; undefined below the limit.
   */
  add(call: Call, source: object, now: number): Call | undefined {
    // Reinserted, to keep the order of time.
    this.delete(call);
    this.#waiters.set(call, { since: now, source });
    this.#counts.set(source, (this.#counts.get(source) ?? 0) + 1);
    if (this.#waiters.size <= this.#most) return undefined;
    const oldest = this.#oldestOf(this.#largestSource());
    if (oldest !== undefined) this.delete(oldest);
    return oldest;
  }

  delete(call: Call): void {
    const waiter = this.#waiters.get(call);
    if (waiter === undefined) return;
    this.#waiters.delete(call);
    const left = (this.#counts.get(waiter.source) ?? 1) - 1;
    if (left > 0) this.#counts.set(waiter.source, left);
    else this.#counts.delete(waiter.source);
  }

  /** Removes the calls that have waited since before a time. */
  removeBefore(time: number): Call[] {
    const overdue: Call[] = [];
    for (const [call, { since }] of this.#waiters) {
      if (since >= time) break;
      overdue.push(call);
    }
    for (const call of overdue) this.delete(call);
    return overdue;
  }

  #largestSource(): object | undefined {
    let largest: object | undefined;
    let most = 0;
    for (const [source, count] of this.#counts) {
      if (count <= most) continue;
      largest = source;
      most = count;
    }
    return largest;
  }

  #oldestOf(source: object | undefined): Call | undefined {
    for (const [call, waiter] of this.#waiters) if (waiter.source === source) return call;
    return undefined;
  }
}
