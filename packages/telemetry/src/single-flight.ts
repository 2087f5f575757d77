/**
 * Work that many ask for at the same time, done once for all of them; for who asks after it has ended it is done anew. What comes of it may be older
 * than the question: not for reads of what the asker may just have written.
 */
export class SingleFlight<Result> {
  readonly #flights = new Map<string, Promise<Result>>();

  /** @throws what `work` throws, to all who asked meanwhile. */
  do(key: string, work: () => Promise<Result>): Promise<Result> {
    let flight = this.#flights.get(key);
    if (flight === undefined) {
      flight = work().finally(() => this.#flights.delete(key));
      this.#flights.set(key, flight);
    }
    return flight;
  }
}
