/** Limits of a backoff. */
export interface RetryDelays {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Returns the backoff after a number of failures: it doubles, with a jitter of half, so that simultaneous failures do
 * not retry simultaneously.
 */
export function retryDelayMs({ firstMs, longestMs }: RetryDelays, failures: number, random: () => number): number {
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 30), longestMs) * (0.5 + random() / 2);
}
