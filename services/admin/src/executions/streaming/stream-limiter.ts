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

/** Limits the streams of this process, and ends them when it stops. */
export class StreamLimiter {
  readonly #maxOpen: number;
  readonly #stopping = new AbortController();
  #open = 0;

  constructor(most: number) {
    this.#maxOpen = most;
  }

  get size(): number {
    return this.#open;
  }

  /**
   * @throws RpcError RESOURCE_EXHAUSTED when there are too many, UNAVAILABLE when this process
   *   stops.
   */
  open(caller: AbortSignal): OpenStream {
    this.#stopping.signal.throwIfAborted();
    if (this.#open >= this.#maxOpen) throw new RpcError(Code.RESOURCE_EXHAUSTED, `this replica serves ${this.#maxOpen} streams already`);
    this.#open++;
    const signal = AbortSignal.any([caller, this.#stopping.signal]);
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

  /** Ends all streams: their clients resume at another replica. */
  stop(): void {
    this.#stopping.abort(new RpcError(Code.UNAVAILABLE, "this replica is stopping; resume the stream with its cursor"));
  }
}
