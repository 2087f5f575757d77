/** Observations in memory, some KiB each, at which consumption from the bus pauses. */
const MOST = 5_000;

/** Counts observations of all workflows that are received but not processed. */
export class Backlog {
  #size = 0;
  #room: PromiseWithResolvers<void> | undefined;

  /** Adds a positive or negative count. */
  add(count: number): void {
    this.#size += count;
    if (this.#room === undefined || !this.hasRoom) return;
    this.#room.resolve();
    this.#room = undefined;
  }

  get hasRoom(): boolean {
    return this.#size < MOST;
  }

  /** Resolves when more messages may be consumed. */
  room(): Promise<void> {
    if (this.hasRoom) return Promise.resolve();
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }
}
