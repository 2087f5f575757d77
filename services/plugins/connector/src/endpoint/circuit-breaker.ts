import { backoffDelay, type Time } from "@flyte-ts/async";

/** Failures in a row after which calls are no longer tried. */
const THRESHOLD = 5;
const OPEN = { initialMs: 1_000, maxMs: 30_000, jitter: 0.2 };
/** Delay of other calls while one tests the endpoint, ms. */
const PROBE_MS = 1_000;

export interface CircuitBreakerDeps {
  readonly clock: Time;
  readonly random: () => number;
}

/**
 * Stops calls to an endpoint that does not answer. After a growing delay one call tests it; its
 * success lets all through.
 */
export class CircuitBreaker {
  #failures = 0;
  #openUntil = Number.NEGATIVE_INFINITY;
  #probing = false;
  #reason = "";

  constructor(private readonly deps: CircuitBreakerDeps) {}

  get isOpen(): boolean {
    return this.#failures >= THRESHOLD;
  }

  /** Reason of the last failure; empty while the endpoint answers. */
  get reason(): string {
    return this.#reason;
  }

  /** Time for which no call is admitted, ms. */
  restMs(): number {
    return this.isOpen ? Math.max(0, this.#openUntil - this.deps.clock.elapsed()) : 0;
  }

  /** Returns 0 to admit a call, or the delay before the next request for admission, ms. */
  admit(): number {
    if (!this.isOpen) return 0;
    const restMs = this.restMs();
    if (restMs > 0) return restMs;
    if (this.#probing) return PROBE_MS;
    this.#probing = true;
    return 0;
  }

  /** Records an answer of the endpoint, also one that is an error of the call itself. */
  onAnswer(): void {
    this.#failures = 0;
    this.#probing = false;
    this.#reason = "";
  }

  /** Records a call without an answer. */
  onNoAnswer(reason: string): void {
    this.#failures++;
    this.#probing = false;
    this.#reason = reason;
    if (!this.isOpen) return;
    const { clock, random } = this.deps;
    this.#openUntil = clock.elapsed() + backoffDelay(OPEN, this.#failures - THRESHOLD, random);
  }
}
