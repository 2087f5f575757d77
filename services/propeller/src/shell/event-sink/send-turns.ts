import { BoundedMap } from "@flyte-ts/async";

/** Number of events above which an execution is large. */
const FEW = 32;
/** Reserves every fourth turn for large executions. */
const SHARE = 4;
/** Maximum of executions whose events are counted; the oldest is evicted. */
const MOST_COUNTED = 10_000;

/**
 * Schedules executions with queued events as a multi-level feedback queue of two levels: those with few sent events
 * come first. Otherwise the event of a signal waits for all earlier events of large executions.
 */
export class SendTurns {
  readonly #few: string[] = [];
  readonly #many: string[] = [];
  readonly #sent = new BoundedMap<string, number>(MOST_COUNTED);
  #turns = 0;

  get isEmpty(): boolean {
    return this.#few.length === 0 && this.#many.length === 0;
  }

  /** Appends an execution to its level. */
  add(key: string): void {
    ((this.#sent.get(key) ?? 0) < FEW ? this.#few : this.#many).push(key);
  }

  /** Dequeues the execution that is next. */
  take(): string | undefined {
    const [first, second] = ++this.#turns % SHARE === 0 ? [this.#many, this.#few] : [this.#few, this.#many];
    return first.shift() ?? second.shift();
  }

  /** Counts a sent event of the execution. */
  sent(key: string): void {
    const count = this.#sent.get(key) ?? 0;
    this.#sent.set(key, count + 1);
  }

  /** Removes an execution that sends no more events. */
  ended(key: string): void {
    this.#sent.delete(key);
  }
}
