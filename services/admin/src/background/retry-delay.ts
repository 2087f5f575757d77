/** Pauses between tries. */
export interface RetryDelays {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause after so many failed tries: doubling, and spread by half, so that those which failed together do not come back together. */
export function retryDelayMs({ firstMs, longestMs }: RetryDelays, failures: number, random: () => number): number {
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 30), longestMs) * (0.5 + random() / 2);
}
