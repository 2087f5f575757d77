import { Code, RpcError } from "@flyte-ts/rpc";
import type { Waiters } from "./waiters.js";

/** One stream of this process. */
export interface OpenStream {
  /** @throws the reason when the stream must end. */
  check(): void;
  /** Resolves at the next notification, or when the stream must end. */
  wait(waiting: Waiters): Promise<void>;
  /** Aborted when the stream must end. */
  readonly signal: AbortSignal;
  close(): void;
}

/** Limits the streams of this process, and ends them when it stops or cannot see changes. */
export class StreamLimiter {
  readonly #maxOpen: number;
  readonly #stopping = new AbortController();
  #outage = new AbortController();
  #open = 0;

  constructor(most: number) {
    this.#maxOpen = most;
  }

  get size(): number {
    return this.#open;
  }

  /**
   * @throws RpcError RESOURCE_EXHAUSTED when there are too many, UNAVAILABLE when this process
   *   stops, and during an outage.
   */
  open(caller: AbortSignal): OpenStream {
    this.#stopping.signal.throwIfAborted();
    this.#outage.signal.throwIfAborted();
    if (this.#open >= this.#maxOpen) throw new RpcError(Code.RESOURCE_EXHAUSTED, `this replica serves ${this.#maxOpen} streams already`);
    this.#open++;
    const signal = AbortSignal.any([caller, this.#stopping.signal, this.#outage.signal]);
    let wake: () => void = () => undefined;
    const onAbort = (): void => wake();
    signal.addEventListener("abort", onAbort, { once: true });
    return {
      signal,
      check: () => signal.throwIfAborted(),
      wait: (waiting) => {
        if (signal.aborted) return Promise.resolve();
        return new Promise((resolve) => {
          const release = waiting.add(resolve);
          wake = () => {
            release();
            resolve();
          };
        });
      },
      close: () => {
        this.#open--;
        signal.removeEventListener("abort", onAbort);
      },
    };
  }

  /**
   * Ends all streams, and accepts none until {@link resume}.
   *
   * @param reason dependency that is missing, for clients
   */
  interrupt(reason: string): void {
    this.#outage.abort(new RpcError(Code.UNAVAILABLE, `changes cannot be seen: ${reason}; resume the stream with its cursor`));
  }

  /** Accepts streams again. */
  resume(): void {
    this.#outage = new AbortController();
  }

  /** Ends all streams: their clients resume at another replica. */
  stop(): void {
    this.#stopping.abort(new RpcError(Code.UNAVAILABLE, "this replica is stopping; resume the stream with its cursor"));
  }
}
