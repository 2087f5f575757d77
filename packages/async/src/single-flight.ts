/**
 * Shares one execution among concurrent calls with the same key; a call after its end starts
 * another. A result may be older than the call, so do not use this to read data that the caller may
 * just have written.
 */
export class SingleFlight<Result> {
  readonly #flights = new Map<string, Promise<Result>>();

  /** @throws the error of `work`, to all callers that share it. */
  run(key: string, work: () => Promise<Result>): Promise<Result> {
    let flight = this.#flights.get(key);
    if (flight === undefined) {
      flight = work().finally(() => this.#flights.delete(key));
      this.#flights.set(key, flight);
    }
    return flight;
  }
}
