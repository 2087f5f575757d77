/** Calls whose request has not arrived yet, oldest first; bounded in number and in time. */
export class Waiting<Call> {
  readonly #since = new Map<Call, number>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#since.size;
  }

  /** Notes that a call waits from now on; false where too many do. */
  add(call: Call, now: number): boolean {
    if (this.#since.size >= this.#most) return false;
    // Set anew, so that the order stays that of time.
    this.#since.delete(call);
    this.#since.set(call, now);
    return true;
  }

  delete(call: Call): void {
    this.#since.delete(call);
  }

  /** Takes out the calls that have waited since before a time. */
  takeBefore(time: number): Call[] {
    const overdue: Call[] = [];
    for (const [call, since] of this.#since) {
      if (since >= time) break;
      overdue.push(call);
    }
    for (const call of overdue) this.#since.delete(call);
    return overdue;
  }
}
