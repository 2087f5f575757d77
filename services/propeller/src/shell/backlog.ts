/** Facts that may stand in memory before no more are heard, some KiB each. */
const MOST = 5_000;

/** Counts the facts that have been heard and that no run has taken up, of all workflows. */
export class Backlog {
  #size = 0;
  #room: PromiseWithResolvers<void> | undefined;

  /** So many more, or fewer. */
  add(count: number): void {
    this.#size += count;
    if (this.#room === undefined || !this.hasRoom) return;
    this.#room.resolve();
    this.#room = undefined;
  }

  get hasRoom(): boolean {
    return this.#size < MOST;
  }

  /** Resolves when more may be heard. */
  room(): Promise<void> {
    if (this.hasRoom) return Promise.resolve();
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }
}
