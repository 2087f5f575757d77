import { BinaryHeap, systemTime, type Time } from "@flyte-ts/async";

interface Turn {
  readonly key: string;
  /** Virtual time at which the key may be worked on. */
  readonly start: number;
  readonly order: number;
}

/** Number of remembered keys before the first sweep. */
const FEW = 1_024;
/** Time for which a taken key counts as sharing the workers, ms: longer than one step of a chain takes elsewhere. */
const SHARES_MS = 200;

/**
 * A queue of keys that shares the workers' time: the key that has used least of it comes first, among equals the one
 * added first (start-time fair queueing). Virtual time is the start of the turn taken last. A key's turn starts then,
 * or at the end of its last turn when that is later, so a key that has used much waits for others and no key starves.
 * A key is queued at most once; a key added while a worker has it is queued again when the worker is done, so that two
 * workers never have one key.
 */
export class WorkQueue {
  /** Time at which each key was added, ms, oldest first. */
  readonly #waiting = new Map<string, number>();
  readonly #turns = new BinaryHeap<Turn>((a, b) => a.start < b.start || (a.start === b.start && a.order < b.order));
  /** Starts of the turns in progress. */
  readonly #working = new Map<string, number>();
  /** Virtual times at which the last turns of keys ended. */
  readonly #ended = new Map<string, number>();
  readonly #again = new Set<string>();
  readonly #later = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  readonly #takers: (() => void)[] = [];
  /** The key taken last, and the last other key before it. */
  #last: { readonly key: string; at: number } | undefined;
  #lastOther: { readonly key: string; at: number } | undefined;
  #virtualTime = 0;
  #added = 0;
  #sweepAt = FEW;
  #closed = false;

  constructor(private readonly time: Pick<Time, "now" | "schedule"> = systemTime) {}

  /** Number of queued keys. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Age of the oldest queued key, ms. */
  get latencyMs(): number {
    const first = this.#waiting.values().next();
    return first.done ? 0 : this.time.now() - first.value;
  }

  get closed(): boolean {
    return this.#closed;
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#working.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#waiting.has(key)) return;
    this.#waiting.set(key, this.time.now());
    this.#turns.push({ key, start: Math.max(this.#virtualTime, this.#ended.get(key) ?? 0), order: this.#added++ });
    this.#takers.shift()?.();
  }

  /** Adds the key at a time, ms since the epoch; the earliest of several counts. */
  addAt(key: string, at: number): void {
    if (this.#closed) return;
    const known = this.#later.get(key);
    if (known !== undefined) {
      if (known.at <= at) return;
      known.cancel();
    }
    const cancel = this.time.schedule(Math.max(at - this.time.now(), 0), () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { at, cancel });
  }

  /** Cancels the timer of a key. */
  forget(key: string): void {
    const known = this.#later.get(key);
    if (known === undefined) return;
    known.cancel();
    this.#later.delete(key);
  }

  /** Removes the next key; undefined when none is queued. The caller must call `done`. */
  take(): string | undefined {
    const turn = this.#turns.pop();
    if (turn === undefined) return undefined;
    const { key, start } = turn;
    this.#virtualTime = Math.max(this.#virtualTime, start);
    this.#waiting.delete(key);
    this.#ended.delete(key);
    this.#working.set(key, start);
    this.#noteTaken(key);
    return key;
  }

  #noteTaken(key: string): void {
    const at = this.time.now();
    if (this.#last?.key === key) this.#last.at = at;
    else {
      this.#lastOther = this.#last;
      this.#last = { key, at };
    }
  }

  /** True when other keys are queued or were worked on a moment ago: the holder of the key should then yield soon. */
  isShared(key: string): boolean {
    if (this.#waiting.size > (this.#waiting.has(key) ? 1 : 0)) return true;
    const other = this.#last?.key === key ? this.#lastOther : this.#last;
    return other !== undefined && this.time.now() - other.at < SHARES_MS;
  }

  /** Resolves when a key is queued, or when the queue is closed. Another caller may take it first. */
  filled(): Promise<void> {
    if (this.#closed || this.#waiting.size > 0) return Promise.resolve();
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** @param usedMs time for which the key occupied the worker */
  done(key: string, usedMs = 0): void {
    const start = this.#working.get(key);
    this.#working.delete(key);
    if (start !== undefined && usedMs > 0) this.#remember(key, start + usedMs);
    if (this.#again.delete(key)) this.add(key);
  }

  #remember(key: string, ended: number): void {
    this.#ended.set(key, ended);
    if (this.#ended.size < this.#sweepAt) return;
    for (const [known, at] of this.#ended) if (at <= this.#virtualTime) this.#ended.delete(known);
    this.#sweepAt = Math.max(FEW, 2 * this.#ended.size);
  }

  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
    this.#waiting.clear();
    while (this.#turns.pop() !== undefined);
    for (const taker of this.#takers.splice(0)) taker();
  }
}
