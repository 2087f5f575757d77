import type { BackoffConfig } from "../config.js";

/** Delay in ms before try `n` (from 0) is repeated. */
export function backoffDelay(config: BackoffConfig, n: number, random: () => number): number {
  const full = Math.min(config.max, config.initial * config.factor ** Math.min(n, 64));
  return Math.round(full * (1 - config.jitter * random()));
}
