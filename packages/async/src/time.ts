/** Clock and timers, passed in so that tests and simulations control them. */
export interface Time {
  /** Wall-clock time, ms since 1970. */
  now(): number;
  /** Monotonic time, ms from an arbitrary start. */
  elapsed(): number;
  /**
   * Resolves after `ms`; rejects with an AbortError when the signal aborts. Keeps the process
   * alive.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Runs `action` once after `delayMs`, and returns a function that cancels it. Does not keep the
   * process alive.
   */
  schedule(delayMs: number, action: () => void): () => void;
}
