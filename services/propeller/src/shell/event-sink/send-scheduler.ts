import { BoundedMap } from "@flyte-ts/async";

/** Number of events above which an execution is large. */
const MAX_SMALL_EVENTS = 32;
/** Reserves every fourth turn for large executions. */
const LARGE_TURN_INTERVAL = 4;
/** Maximum of executions whose events are counted; the oldest is evicted. */
const MAX_COUNTED = 10_000;

/**
 * Schedules executions with queued events as a multi-level feedback queue of two levels: those with
 * few sent events come first. Otherwise the event of a signal waits for all earlier events of large
 * executions.
 */
export class SendScheduler {
  readonly #small: string[] = [];
  readonly #large: string[] = [];
  readonly #sent = new BoundedMap<string, number>(MAX_COUNTED);
  #turns = 0;

  get isEmpty(): boolean {
    return this.#small.length === 0 && this.#large.length === 0;
  }

  /** Appends an execution to its level. */
  add(key: string): void {
    ((this.#sent.get(key) ?? 0) < MAX_SMALL_EVENTS ? this.#small : this.#large).push(key);
  }

  /** Dequeues the execution that is next. */
  next(): string | undefined {
    const [first, second] = ++this.#turns % LARGE_TURN_INTERVAL === 0 ? [this.#large, this.#small] : [this.#small, this.#large];
    return first.shift() ?? second.shift();
  }

  /** Counts a sent event of the execution. */
  onSent(key: string): void {
    const count = this.#sent.get(key) ?? 0;
    this.#sent.set(key, count + 1);
  }

  /** Removes an execution that sends no more events. */
  remove(key: string): void {
    this.#sent.delete(key);
  }
}
