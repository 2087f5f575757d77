/** Delay `initial * factor^n`, at most `max`, made shorter by a random part of up to `jitter` (0 to 1). */
export interface BackoffConfig {
  readonly initial: number;
  readonly factor: number;
  readonly max: number;
  readonly jitter: number;
}

/** Delay in ms before try `n` (from 0) is repeated. */
export function backoffDelay(config: BackoffConfig, n: number, random: () => number): number {
  const full = Math.min(config.max, config.initial * config.factor ** Math.min(n, 64));
  return Math.round(full * (1 - config.jitter * random()));
}
