import { type Backoff, backoffDelay } from "@flyte-ts/async";

/** Number of failed calls in a row that open the circuit. */
const FAILURES_TO_OPEN = 5;
const PAUSE: Backoff = { initialMs: 1_000, maxMs: 30_000, jitter: 0.2 };

/**
 * Pauses the calls of an endpoint that fails: after several failures in a row, or at once when the
 * endpoint requests fewer calls. The first calls after the pause decide on the next one.
 */
export class Circuit {
  #failures = 0;
  #pauses = 0;
  #openUntilMs = 0;

  constructor(private readonly random: () => number) {}

  /** Time until calls are allowed, ms; 0: now. */
  pauseMs(nowMs: number): number {
    return Math.max(0, this.#openUntilMs - nowMs);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#pauses = 0;
  }

  /** @param retryAfterMs pause that the endpoint requested, ms */
  failed(nowMs: number, { throttled, retryAfterMs }: { readonly throttled: boolean; readonly retryAfterMs?: number | undefined }): void {
    this.#failures++;
    // Calls that were in flight when the circuit opened do not lengthen the pause.
    if (this.pauseMs(nowMs) > 0 || (!throttled && this.#failures < FAILURES_TO_OPEN)) return;
    const pauseMs = Math.min(PAUSE.maxMs, retryAfterMs ?? 0) || backoffDelay(PAUSE, this.#pauses, this.random);
    this.#openUntilMs = nowMs + pauseMs;
    this.#pauses++;
  }
}
