import type { Time } from "@flyte-ts/async";

export interface EndpointPollOptions {
  readonly clock: Pick<Time, "schedule">;
  /** Asks the endpoint; resolves to the delay before the next time, ms. Never rejects. */
  readonly ask: () => Promise<number>;
}

/** Asks an endpoint again and again: at intervals, and at once when there is a reason. */
export class EndpointPoll {
  #asking: Promise<void> | undefined;
  /** The question after the one in progress, which may have been answered already. */
  #next: Promise<void> | undefined;
  #cancel: () => void = () => undefined;
  #stopped = false;

  constructor(private readonly options: EndpointPollOptions) {}

  /** Asks now. Resolves after an answer, or a failure, to a question that begins after the call. */
  now(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    if (this.#asking === undefined) return this.#ask();
    this.#next ??= this.#asking.then(() => {
      this.#next = undefined;
      return this.now();
    });
    return this.#next;
  }

  /** Asks no more, and waits for the question in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#asking;
  }

  #ask(): Promise<void> {
    this.#cancel();
    const { ask, clock } = this.options;
    this.#asking = ask().then((delayMs) => {
      this.#asking = undefined;
      if (!this.#stopped) this.#cancel = clock.schedule(delayMs, () => void this.now());
    });
    return this.#asking;
  }
}
