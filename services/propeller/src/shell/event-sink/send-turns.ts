/** Events after which an execution counts as one of many. */
const FEW = 32;
/** Reserves every fourth turn for executions with many events. */
const SHARE = 4;
/** Executions whose events are counted; the one that began first is forgotten. */
const MOST_COUNTED = 10_000;

/**
 * Orders the executions whose events wait for a place, as a multi-level feedback queue of two levels: those that have sent few events come
 * first. Otherwise the event of a signal waits for all events of large executions that came before it.
 */
export class SendTurns {
  readonly #few: string[] = [];
  readonly #many: string[] = [];
  readonly #sent = new Map<string, number>();
  #turns = 0;

  get isEmpty(): boolean {
    return this.#few.length === 0 && this.#many.length === 0;
  }

  /** Puts an execution behind the others of its level. */
  add(key: string): void {
    ((this.#sent.get(key) ?? 0) < FEW ? this.#few : this.#many).push(key);
  }

  /** Takes the execution whose turn it is. */
  take(): string | undefined {
    const [first, second] = ++this.#turns % SHARE === 0 ? [this.#many, this.#few] : [this.#few, this.#many];
    return first.shift() ?? second.shift();
  }

  /** Counts an event that the execution has sent. */
  sent(key: string): void {
    const count = this.#sent.get(key) ?? 0;
    this.#sent.set(key, count + 1);
    if (this.#sent.size <= MOST_COUNTED) return;
    const [oldest] = this.#sent.keys();
    if (oldest !== undefined) this.#sent.delete(oldest);
  }

  /** Forgets an execution that sends no more events. */
  ended(key: string): void {
    this.#sent.delete(key);
  }
}
