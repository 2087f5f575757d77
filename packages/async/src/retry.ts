import { type Backoff, backoffDelay } from "./backoff.js";
import { systemRandom, systemTime } from "./system.js";
import type { Time } from "./time.js";

export interface RetryOptions extends Backoff {
  /** False for an error that a retry cannot cure; by default every error is retried. */
  readonly isRetryable?: (error: unknown) => boolean;
  /** Maximum number of retries; unlimited by default. */
  readonly maxRetries?: number;
  /** Time from the first call, ms, after which no retry starts; unlimited by default. */
  readonly timeoutMs?: number;
  /** Ends the delay before a retry with an AbortError. */
  readonly signal?: AbortSignal;
  /**
   * Called before the delay of a retry; `retry` counts from 0. An error that it throws ends the
   * retries.
   */
  readonly onRetry?: (error: unknown, retry: number, delayMs: number) => void;
  /** Returns a number in [0, 1) for the jitter. */
  readonly random?: () => number;
}

/**
 * Calls `operation` until it succeeds, with growing delays between the calls.
 *
 * @param operation gets the number of the retry, 0 for the first call
 * @throws the error of the last call: a permanent one, or any when retries or time are used up.
 */
export async function retry<T>(
  operation: (retry: number) => Promise<T>,
  options: RetryOptions,
  time: Pick<Time, "elapsed" | "sleep"> = systemTime,
): Promise<T> {
  const { isRetryable = () => true, maxRetries = Number.POSITIVE_INFINITY, timeoutMs, signal, onRetry, random = systemRandom } = options;
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : time.elapsed() + timeoutMs;
  for (let retries = 0; ; retries++) {
    try {
      return await operation(retries);
    } catch (error) {
      if (retries >= maxRetries || !isRetryable(error)) throw error;
      const delayMs = backoffDelay(options, retries, random);
      if (time.elapsed() + delayMs > deadline) throw error;
      onRetry?.(error, retries, delayMs);
      await time.sleep(delayMs, signal);
    }
  }
}
