/** Delay `initial * factor^n`, at most `max`, reduced by a random share of up to `jitter` (0 to 1). */
export interface Backoff {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  readonly jitter: number;
}

/** Delay in ms after try `n` (from 0). */
export function backoffDelay(config: Backoff, n: number, random: () => number): number {
  const full = Math.min(config.maxMs, config.initialMs * config.factor ** Math.min(n, 64));
  return Math.round(full * (1 - config.jitter * random()));
}
