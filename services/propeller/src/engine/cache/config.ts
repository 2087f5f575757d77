import type { BackoffConfig } from "../retry/backoff.js";
/** How an installation caches. Times are in milliseconds. */
export interface CacheConfig {
  /** Outputs older than this do not count; 0 means that age does not matter. */
  readonly maxAge: number;
  /** A catalog that does not answer delays a node by so much at most, then it goes on without. */
  readonly patience: number;
  /** How often a reservation is extended; it passes on after three of these without. */
  readonly heartbeat: number;
  /** While another computes, it is looked again after this time. */
  readonly waitAgain: BackoffConfig;
}

export const defaultCacheConfig: CacheConfig = {
  maxAge: 0,
  patience: 10_000,
  heartbeat: 10_000,
  waitAgain: { initial: 1_000, factor: 1.5, max: 10_000, jitter: 0.5 },
};
