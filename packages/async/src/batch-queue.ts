import { systemTime } from "./system.js";
import type { Time } from "./time.js";

export interface BatchQueueOptions<T, R> {
  /** Processes the items of one owner. Resolves to their results in the same order. */
  readonly process: (items: readonly T[], owner: string) => Promise<readonly R[]>;
  /** Maximum number of items of a batch. Default: no limit. */
  readonly maxItems?: number;
  /** Maximum weight of a batch with several items, such as its bytes. Default: no limit. */
  readonly maxWeight?: number;
  /** Weight of an item. Default: 0. */
  readonly weightOf?: (item: T) => number;
  /**
   * Called before each batch, which also gets the items that arrive until it resolves. Must not
   * reject. Default: a batch begins at once.
   */
  readonly gather?: () => Promise<void>;
  /** Maximum number of batches of one owner that are processed at the same time. Default: 1. */
  readonly concurrency?: number;
  /**
   * Minimum time between the starts of two batches of the owner, ms for each item of the first.
   * Default: 0.
   */
  readonly msPerItem?: (owner: string) => number;
  readonly time?: Pick<Time, "schedule">;
  /**
   * True for an error that one item may have caused: each item is then processed alone. Default:
   * false.
   */
  readonly isItemError?: (error: unknown) => boolean;
}

interface WaitingItem<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

interface OwnerQueue<T, R> {
  waiting: WaitingItem<T, R>[];
  running: number;
  isPaused: boolean;
}

/**
 * Processes items in batches: an item is processed at once while its owner has few batches in
 * progress; otherwise it shares the next batch with the other items of its owner. The batches of
 * different owners do not wait for one another. A pace for each owner leaves time to others.
 */
export class BatchQueue<T, R = void> {
  readonly #queues = new Map<string, OwnerQueue<T, R>>();

  constructor(private readonly options: BatchQueueOptions<T, R>) {}

  /** Resolves to the result of the item; rejects with the error of its batch. */
  run(item: T, owner = ""): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    let queue = this.#queues.get(owner);
    if (queue === undefined) this.#queues.set(owner, (queue = { waiting: [], running: 0, isPaused: false }));
    queue.waiting.push({ item, resolve, reject });
    this.#start(owner, queue);
    return promise;
  }

  #start(owner: string, queue: OwnerQueue<T, R>): void {
    const { concurrency = 1, gather } = this.options;
    while (queue.waiting.length > 0 && queue.running < concurrency && !queue.isPaused) {
      queue.running++;
      const processing = gather === undefined ? this.#processNext(owner, queue) : gather().then(() => this.#processNext(owner, queue));
      void processing.then(() => {
        queue.running--;
        this.#continue(owner, queue);
      });
      // The batch gets the waiting items later.
      if (gather !== undefined) return;
    }
  }

  #processNext(owner: string, queue: OwnerQueue<T, R>): Promise<void> {
    const batch = this.#takeBatch(queue);
    this.#pause(owner, queue, batch.length);
    return this.#process(batch, owner);
  }

  #pause(owner: string, queue: OwnerQueue<T, R>, items: number): void {
    const { msPerItem = () => 0, time = systemTime } = this.options;
    const pauseMs = items * msPerItem(owner);
    if (pauseMs === 0) return;
    queue.isPaused = true;
    time.schedule(pauseMs, () => {
      queue.isPaused = false;
      this.#continue(owner, queue);
    });
  }

  #continue(owner: string, queue: OwnerQueue<T, R>): void {
    this.#start(owner, queue);
    if (queue.running === 0 && !queue.isPaused) this.#queues.delete(owner);
  }

  #takeBatch(queue: OwnerQueue<T, R>): readonly WaitingItem<T, R>[] {
    const { maxItems = Number.POSITIVE_INFINITY, maxWeight = Number.POSITIVE_INFINITY, weightOf = () => 0 } = this.options;
    let count = 0;
    let weight = 0;
    for (const { item } of queue.waiting) {
      weight += weightOf(item);
      if (count === maxItems || (count > 0 && weight > maxWeight)) break;
      count++;
    }
    return queue.waiting.splice(0, count);
  }

  async #process(batch: readonly WaitingItem<T, R>[], owner: string): Promise<void> {
    const { process, isItemError = () => false } = this.options;
    try {
      const results = await process(
        batch.map(({ item }) => item),
        owner,
      );
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R);
    } catch (error) {
      if (batch.length > 1 && isItemError(error)) for (const waiting of batch) await this.#process([waiting], owner);
      else for (const { reject } of batch) reject(error);
    }
  }
}
