export interface BatcherOptions<Item, Result> {
  /** Maximum weight of a batch; a heavier item is processed alone. */
  readonly maxWeight: number;
  /** Weight of an item. Default 1. */
  readonly weightOf?: (item: Item) => number;
  /** Resolves when a batch may begin; more items arrive meanwhile. Default: at once. */
  readonly gather?: () => Promise<void>;
  /** Processes a batch. Resolves to the results in the order of the items. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
}

interface Pending<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const atOnce = () => Promise.resolve();

/**
 * Processes items of concurrent callers in batches, one batch at a time: each has the items that
 * arrived during the batch before and while the batcher gathered. Items of a batch that fails are
 * repeated one by one, so that each caller gets its own error: `run` must tolerate that.
 */
export class Batcher<Item, Result = void> {
  readonly #options: BatcherOptions<Item, Result>;
  #pending: Pending<Item, Result>[] = [];
  #running = false;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /** Resolves to the result of the item. @throws the error of `run` for the item alone. */
  process(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ item, resolve, reject });
      if (this.#running) return;
      this.#running = true;
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    const { gather = atOnce } = this.#options;
    while (this.#pending.length > 0) {
      await gather();
      await this.#process(this.#nextBatch());
    }
    this.#running = false;
  }

  /** Removes the oldest items up to the maximum weight. */
  #nextBatch(): readonly Pending<Item, Result>[] {
    const { maxWeight, weightOf = () => 1 } = this.#options;
    let weight = 0;
    const end = this.#pending.findIndex(({ item }, index) => (weight += weightOf(item)) > maxWeight && index > 0);
    return this.#pending.splice(0, end < 0 ? this.#pending.length : end);
  }

  async #process(batch: readonly Pending<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const one of batch) await this.#process([one]);
    }
  }
}
