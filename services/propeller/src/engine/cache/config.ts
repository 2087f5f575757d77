import type { Backoff } from "@flyte-ts/async/backoff";
/** Cache settings of an installation. Times in ms. */
export interface CacheConfig {
  /** Maximum age of cached outputs; 0 means no limit. */
  readonly maxAge: number;
  /**
   * Use the entries of a task's own project and domain for executions of others, as Go Flyte does.
   */
  readonly shareAcrossProjects: boolean;
  /** Timeout of a lookup, after which the node runs without the catalog. */
  readonly lookupTimeout: number;
  /** Interval of reservation heartbeats; the reservation expires after three missed ones. */
  readonly heartbeatInterval: number;
  /** Backoff between lookups while another execution computes. */
  readonly reservationPollBackoff: Backoff;
}

export const defaultCacheConfig: CacheConfig = {
  maxAge: 0,
  shareAcrossProjects: false,
  lookupTimeout: 10_000,
  heartbeatInterval: 10_000,
  reservationPollBackoff: { initialMs: 1_000, factor: 1.5, maxMs: 10_000, jitter: 0.5 },
};
