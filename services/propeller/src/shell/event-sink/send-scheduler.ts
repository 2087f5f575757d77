import { BoundedMap } from "@flyte-ts/async";

/** Every fourth turn goes to the execution that has waited longest, so that none starves. */
const LONGEST_WAIT_INTERVAL = 4;
/** Maximum of executions whose events are counted; the one that sent longest ago is evicted. */
const MAX_COUNTED = 10_000;

interface Waiting {
  readonly key: string;
  /** Number of executions added before. */
  readonly order: number;
}

/**
 * Schedules executions with queued events as a multi-level feedback queue: the level of an
 * execution is the bit length of the number of its sent events, and lower levels come first, in
 * turn. A new execution therefore comes before those that have sent many events, whether they run
 * or have ended.
 */
export class SendScheduler {
  readonly #levels: Waiting[][] = [];
  readonly #sent = new BoundedMap<string, number>(MAX_COUNTED);
  #added = 0;
  #turns = 0;

  /** Appends an execution to its level. */
  add(key: string): void {
    const level = 32 - Math.clz32(this.#sent.get(key) ?? 0);
    while (this.#levels.length <= level) this.#levels.push([]);
    this.#levels[level]?.push({ key, order: this.#added++ });
  }

  /** Dequeues the execution that is next; undefined when none waits. */
  next(): string | undefined {
    const waiting = this.#levels.filter(({ length }) => length > 0);
    if (++this.#turns % LONGEST_WAIT_INTERVAL === 0) waiting.sort(([a], [b]) => (a?.order ?? 0) - (b?.order ?? 0));
    return waiting[0]?.shift()?.key;
  }

  /** Counts a sent event of the execution. */
  onSent(key: string): void {
    this.#sent.set(key, (this.#sent.get(key) ?? 0) + 1);
  }
}
