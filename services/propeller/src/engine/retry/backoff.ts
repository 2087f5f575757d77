/** Delay `initial * factor^n`, at most `max`, reduced by a random share of up to `jitter` (0 to 1). */
export interface BackoffConfig {
  readonly initial: number;
  readonly factor: number;
  readonly max: number;
  readonly jitter: number;
}

/** Delay in ms after try `n` (from 0). */
export function backoffDelay(config: BackoffConfig, n: number, random: () => number): number {
  const full = Math.min(config.max, config.initial * config.factor ** Math.min(n, 64));
  return Math.round(full * (1 - config.jitter * random()));
}
