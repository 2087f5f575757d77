/** Exponential backoff. */
export interface Backoff {
  /** Delay before the first retry, ms. */
  readonly initialMs: number;
  /** Maximum of the delay, ms. */
  readonly maxMs: number;
  /** Growth per retry; default 2. */
  readonly factor?: number;
  /**
   * Maximum share of the delay, 0 to 1, by which it is randomly reduced, so that many callers do
   * not retry at once; default 0.
   */
  readonly jitter?: number;
}

/** Maximum exponent: larger ones would overflow to infinity, and `maxMs` applies long before. */
const MAX_EXPONENT = 64;

/**
 * Returns the delay before retry `n` (from 0), whole ms: `initialMs * factor^n`, at most `maxMs`,
 * reduced by a random share of up to `jitter`.
 *
 * @param random returns a number in [0, 1); not needed without jitter
 */
export function backoffDelay({ initialMs, maxMs, factor = 2, jitter = 0 }: Backoff, n: number, random?: () => number): number {
  const fullMs = Math.min(maxMs, initialMs * factor ** Math.min(n, MAX_EXPONENT));
  return Math.round(jitter === 0 || random === undefined ? fullMs : fullMs * (1 - jitter * random()));
}
