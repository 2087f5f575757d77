import type { JobLimitSettings } from "./job/job-limits.js";
import type { PollSettings } from "./job/poll-interval.js";

/** Settings of the frame for one API. */
export interface FrameSettings {
  readonly limits: JobLimitSettings;
  readonly poll: PollSettings;
  /** Maximum number of concurrent readings. */
  readonly readers: number;
  /**
   * Maximum number of creations that wait for the rate limit; further attempts are retried later.
   */
  readonly maxPendingCreates: number;
  /** Time without an answer of the API after which an attempt fails, ms. */
  readonly outageMs: number;
  /** Time for which an abort waits for a job to stop before it is repeated, ms. */
  readonly stopTimeoutMs: number;
}
