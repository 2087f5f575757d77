import { DelayQueue, Semaphore, type Time } from "@flyte-ts/async";

export interface PollerOptions {
  readonly clock: Time;
  /** Maximum number of keys of one reading. */
  readonly maxBatch: number;
  /** Maximum number of readings at a time. */
  readonly concurrency: number;
  /** Reads these keys; sets them again where they are to be read again. Never rejects. */
  readonly read: (keys: readonly string[]) => Promise<void>;
}

/** Reads keys at their due times, in batches, on one timer. */
export class Poller {
  readonly #queue = new DelayQueue<string>();
  readonly #permits: Semaphore;
  readonly #inFlight = new Set<Promise<void>>();
  #cancel: (() => void) | undefined;
  #armedForMs = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor(private readonly options: PollerOptions) {
    this.#permits = new Semaphore(options.concurrency);
  }

  /** Reads the key after this delay, ms, instead of at an earlier set time. */
  set(key: string, delayMs: number): void {
    this.#queue.set(key, this.options.clock.now() + delayMs);
    this.#arm();
  }

  delete(key: string): void {
    this.#queue.delete(key);
  }

  /** Starts no further reading and resolves when none is in flight. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  #arm(): void {
    const firstMs = this.#queue.nextDueAt();
    if (this.#stopped || firstMs === undefined || firstMs >= this.#armedForMs) return;
    this.#cancel?.();
    this.#armedForMs = firstMs;
    this.#cancel = this.options.clock.schedule(Math.max(0, firstMs - this.options.clock.now()), () => this.#readDue());
  }

  #readDue(): void {
    this.#armedForMs = Number.POSITIVE_INFINITY;
    const { clock, maxBatch } = this.options;
    let batch: string[] = [];
    for (let key = this.#queue.popDue(clock.now()); key !== undefined; key = this.#queue.popDue(clock.now())) {
      batch.push(key);
      if (batch.length < maxBatch) continue;
      this.#read(batch);
      batch = [];
    }
    if (batch.length > 0) this.#read(batch);
    this.#arm();
  }

  #read(keys: readonly string[]): void {
    const reading = this.#permits.run(() => (this.#stopped ? Promise.resolve() : this.options.read(keys)));
    this.#inFlight.add(reading);
    void reading.finally(() => this.#inFlight.delete(reading));
  }
}
