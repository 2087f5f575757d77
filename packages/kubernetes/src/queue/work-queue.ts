import { BinaryHeap, systemTime, type Time } from "@flyte-ts/async";

/** A key that is added at a time. */
interface DelayedKey {
  /** Time at which the key is added, ms. */
  at: number;
  /** Time at which the timer fires, ms: `at` or earlier. */
  firesAt: number;
  cancel: () => void;
}

interface QueueEntry {
  readonly key: string;
  /** Virtual time at which the key may be worked on. */
  readonly virtualStart: number;
  readonly order: number;
}

/** Number of remembered keys before the first sweep. */
const MIN_SWEEP_SIZE = 1_024;
/**
 * Time after a key was taken during which it counts as sharing the workers, ms. It is longer than
 * one step of a chain takes outside of this queue.
 */
const CONTENTION_WINDOW_MS = 200;
/**
 * Time after which a key is charged for its turns, ms. Keys with short turns mostly keep the order
 * in which they were added, so that keys whose messages arrived in one batch send theirs in one
 * batch.
 */
const MIN_CHARGE_MS = 1;
/** Number of keys whose uncharged time is remembered. */
const MAX_UNCHARGED = 10_000;

/**
 * A queue of keys that shares the workers' time fairly (start-time fair queueing). The key that has
 * used the least time comes first, among equals the one added first. Virtual time is the start of
 * the turn taken last. A key's turn starts at the virtual time, or at the end of the key's last
 * turn when that is later, so a key that has used much time waits for others and no key starves.
 * Short turns of a key are charged together. A key is queued at most once. A key added while a
 * worker has it is queued again when the worker is done, so that two workers never have the same
 * key.
 */
export class WorkQueue {
  /** Time at which each key was added, ms, oldest first. */
  readonly #queued = new Map<string, number>();
  readonly #entries = new BinaryHeap<QueueEntry>(
    (a, b) => a.virtualStart < b.virtualStart || (a.virtualStart === b.virtualStart && a.order < b.order),
  );
  /** Starts of the turns in progress. */
  readonly #processing = new Map<string, number>();
  /** Virtual times at which the last turns of keys ended. */
  readonly #virtualFinish = new Map<string, number>();
  /** Time that keys have used and were not charged for, ms. */
  readonly #uncharged = new Map<string, number>();
  readonly #dirty = new Set<string>();
  readonly #delayed = new Map<string, DelayedKey>();
  #onAvailable: (() => void) | undefined;
  /** The key taken last, and the last other key before it. */
  #last: { readonly key: string; at: number } | undefined;
  #lastOther: { readonly key: string; at: number } | undefined;
  #virtualTime = 0;
  #added = 0;
  #sweepAt = MIN_SWEEP_SIZE;
  #closed = false;

  constructor(private readonly time: Pick<Time, "now" | "schedule"> = systemTime) {}

  /** Number of queued keys. */
  get depth(): number {
    return this.#queued.size;
  }

  /** Age of the oldest queued key, ms. */
  get latencyMs(): number {
    const first = this.#queued.values().next();
    return first.done ? 0 : this.time.now() - first.value;
  }

  get closed(): boolean {
    return this.#closed;
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#processing.has(key)) {
      this.#dirty.add(key);
      return;
    }
    if (this.#queued.has(key)) return;
    this.#queued.set(key, this.time.now());
    this.#entries.push({ key, virtualStart: Math.max(this.#virtualTime, this.#virtualFinish.get(key) ?? 0), order: this.#added++ });
    this.#onAvailable?.();
  }

  /** Adds the key at a time, ms since the epoch; the earliest of several counts. */
  addAt(key: string, at: number): void {
    if (this.#closed) return;
    if ((this.#delayed.get(key)?.at ?? Number.POSITIVE_INFINITY) > at) this.rescheduleAt(key, at);
  }

  /**
   * Replaces the time at which the key is added, ms since the epoch. A timer that fires before is
   * kept: a busy key moves its time at every turn.
   */
  rescheduleAt(key: string, at: number): void {
    if (this.#closed) return;
    const delayed = this.#delayed.get(key);
    if (delayed !== undefined && delayed.firesAt <= at) {
      delayed.at = at;
      return;
    }
    delayed?.cancel();
    this.#delayed.set(key, { at, firesAt: at, cancel: this.#startTimer(key, at) });
  }

  #startTimer(key: string, at: number): () => void {
    return this.time.schedule(Math.max(at - this.time.now(), 0), () => this.#onTimer(key));
  }

  #onTimer(key: string): void {
    const delayed = this.#delayed.get(key);
    if (delayed === undefined) return;
    const { at, firesAt } = delayed;
    if (at > firesAt) {
      delayed.firesAt = at;
      delayed.cancel = this.#startTimer(key, at);
      return;
    }
    this.#delayed.delete(key);
    this.add(key);
  }

  /** Cancels the timer of a key. */
  cancelDelayed(key: string): void {
    const known = this.#delayed.get(key);
    if (known === undefined) return;
    known.cancel();
    this.#delayed.delete(key);
  }

  /** Removes the next key; undefined when none is queued. The caller must call `done`. */
  get(): string | undefined {
    const entry = this.#entries.pop();
    if (entry === undefined) return undefined;
    const { key, virtualStart } = entry;
    this.#virtualTime = Math.max(this.#virtualTime, virtualStart);
    this.#queued.delete(key);
    this.#virtualFinish.delete(key);
    this.#processing.set(key, virtualStart);
    this.#recordGet(key);
    return key;
  }

  #recordGet(key: string): void {
    const at = this.time.now();
    if (this.#last?.key === key) this.#last.at = at;
    else {
      this.#lastOther = this.#last;
      this.#last = { key, at };
    }
  }

  /**
   * True when other keys are queued or were worked on a moment ago: the holder of the key should
   * then yield soon.
   */
  isContended(key: string): boolean {
    if (this.#queued.size > (this.#queued.has(key) ? 1 : 0)) return true;
    const other = this.#last?.key === key ? this.#lastOther : this.#last;
    return other !== undefined && this.time.now() - other.at < CONTENTION_WINDOW_MS;
  }

  /** Stops counting the last turn of a key as contention: it has no work left that others delay. */
  stopSharing(key: string): void {
    if (this.#lastOther?.key === key) this.#lastOther = undefined;
    if (this.#last?.key !== key) return;
    this.#last = this.#lastOther;
    this.#lastOther = undefined;
  }

  /** Sets the listener that is called whenever a key was queued. */
  setListener(onAvailable: () => void): void {
    this.#onAvailable = onAvailable;
  }

  /** @param usedMs time for which the key occupied the worker */
  done(key: string, usedMs = 0): void {
    const virtualStart = this.#processing.get(key);
    this.#processing.delete(key);
    if (virtualStart !== undefined && usedMs > 0) this.#charge(key, virtualStart, usedMs);
    if (this.#dirty.delete(key)) this.add(key);
  }

  #charge(key: string, virtualStart: number, usedMs: number): void {
    const total = (this.#uncharged.get(key) ?? 0) + usedMs;
    if (total >= MIN_CHARGE_MS) {
      this.#uncharged.delete(key);
      this.#recordFinish(key, virtualStart + total);
      return;
    }
    if (this.#uncharged.size >= MAX_UNCHARGED) this.#uncharged.clear();
    this.#uncharged.set(key, total);
  }

  #recordFinish(key: string, virtualFinish: number): void {
    this.#virtualFinish.set(key, virtualFinish);
    if (this.#virtualFinish.size < this.#sweepAt) return;
    for (const [known, at] of this.#virtualFinish) if (at <= this.#virtualTime) this.#virtualFinish.delete(known);
    this.#sweepAt = Math.max(MIN_SWEEP_SIZE, 2 * this.#virtualFinish.size);
  }

  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#queued.clear();
    while (this.#entries.pop() !== undefined);
  }
}
