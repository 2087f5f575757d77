import { type Backoff, backoffDelay } from "./backoff.js";
import type { Time } from "./time.js";

export interface CircuitBreakerOptions {
  readonly clock: Pick<Time, "elapsed">;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  /** Number of calls without an answer in a row that open the circuit; default 5. */
  readonly failuresToOpen?: number;
  /** Pauses without calls, longer each time; default 1 s to 30 s. */
  readonly pause?: Backoff;
  /** Delay of other calls while one tests the endpoint, ms; default 1 s. */
  readonly probeMs?: number;
}

/** A call without an answer that says more than that. */
export interface Refusal {
  /** True: the endpoint asks for fewer calls, which opens the circuit at once. */
  readonly throttled?: boolean;
  /** Pause that the endpoint asks for, ms; at most the longest pause is kept. */
  readonly retryAfterMs?: number | undefined;
}

const PAUSE: Backoff = { initialMs: 1_000, maxMs: 30_000, jitter: 0.2 };

/**
 * Stops calls to an endpoint that does not answer. After a growing pause one call tests it; its
 * success lets all through.
 */
export class CircuitBreaker {
  readonly #options: Required<CircuitBreakerOptions>;
  #failures = 0;
  #pauses = 0;
  #openUntilMs = Number.NEGATIVE_INFINITY;
  #probing = false;
  #reason = "";

  constructor(options: CircuitBreakerOptions) {
    this.#options = { failuresToOpen: 5, pause: PAUSE, probeMs: 1_000, ...options };
  }

  /** True from the opening until an answer. */
  get isOpen(): boolean {
    return this.#pauses > 0;
  }

  /** Reason of the last failure; empty while the endpoint answers. */
  get reason(): string {
    return this.#reason;
  }

  /** Time for which no call is admitted, ms. */
  restMs(): number {
    return Math.max(0, this.#openUntilMs - this.#options.clock.elapsed());
  }

  /**
   * Admits a call: 0, or the delay after which to ask again, ms. The result of an admitted call has
   * to be reported, or the admission withdrawn, for it may be the one that tests the endpoint.
   */
  admit(): number {
    if (!this.isOpen) return 0;
    const restMs = this.restMs();
    if (restMs > 0) return restMs;
    if (this.#probing) return this.#options.probeMs;
    this.#probing = true;
    return 0;
  }

  /** Withdraws the admission of a call that was not made: another may test the endpoint. */
  withdraw(): void {
    this.#probing = false;
  }

  /** Records an answer of the endpoint, also one that is an error of the call itself. */
  onAnswer(): void {
    this.#failures = 0;
    this.#pauses = 0;
    this.#openUntilMs = Number.NEGATIVE_INFINITY;
    this.#probing = false;
    this.#reason = "";
  }

  /** Records a call without an answer. */
  onNoAnswer(reason: string, { throttled = false, retryAfterMs = 0 }: Refusal = {}): void {
    const { clock, random, failuresToOpen, pause } = this.#options;
    this.#failures++;
    this.#reason = reason;
    // Calls that were in flight when the circuit opened do not lengthen the pause.
    if (this.restMs() > 0 || (!throttled && !this.isOpen && this.#failures < failuresToOpen)) return;
    this.#probing = false;
    const pauseMs = Math.min(pause.maxMs, retryAfterMs) || backoffDelay(pause, this.#pauses, random);
    this.#openUntilMs = clock.elapsed() + pauseMs;
    this.#pauses++;
  }
}
