/** Observations in memory, some KiB each, at which consumption from the bus pauses. */
const MAX_OBSERVATIONS = 5_000;

/** Counts observations of all workflows that are received but not processed. */
export class ObservationBacklog {
  #size = 0;
  #capacity: PromiseWithResolvers<void> | undefined;

  /** Adds a positive or negative count. */
  add(count: number): void {
    this.#size += count;
    if (this.#capacity === undefined || !this.hasCapacity) return;
    this.#capacity.resolve();
    this.#capacity = undefined;
  }

  get hasCapacity(): boolean {
    return this.#size < MAX_OBSERVATIONS;
  }

  /** Resolves when more messages may be consumed. */
  whenCapacity(): Promise<void> {
    if (this.hasCapacity) return Promise.resolve();
    this.#capacity ??= Promise.withResolvers<void>();
    return this.#capacity.promise;
  }
}
