/** Limits of a backoff. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

/**
 * Returns the backoff after a number of failures: it doubles, with a jitter of half, so that simultaneous failures do
 * not retry simultaneously.
 */
export function backoffDelay({ initialMs: firstMs, maxMs: longestMs }: Backoff, failures: number, random: () => number): number {
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 30), longestMs) * (0.5 + random() / 2);
}
