/**
 * Whether a cluster gets new work.
 * - `closed`: it does.
 * - `open`: it does not; it has not answered several times in a row.
 * - `half-open`: it answers again, and has to go on doing so before it gets work.
 */
export type BreakerState = "closed" | "open" | "half-open";

export interface Breaker {
  readonly state: BreakerState;
  /** When it came to this state, ms. */
  readonly since: number;
  /** Answers in a row: failures while closed, successes while half-open. */
  readonly count: number;
  /** The last failure; empty while there is none. */
  readonly reason: string;
}

export interface BreakerLimits {
  readonly failures: number;
  readonly successes: number;
}

/** Of a cluster that was never asked: it gets work, until its first answer is a failure. */
export function newBreaker(now: number, { failures }: BreakerLimits): Breaker {
  return { state: "closed", since: now, count: failures - 1, reason: "" };
}

/** What becomes of it by one answer; `failure` says why there was none, or what was wrong with it. */
export function judge(breaker: Breaker, limits: BreakerLimits, { failure, now }: { failure: string | undefined; now: number }): Breaker {
  const { state, count } = breaker;
  const to = (next: BreakerState, counted = 0): Breaker => ({
    state: next,
    since: next === state ? breaker.since : now,
    count: counted,
    reason: failure ?? (next === "closed" ? "" : breaker.reason),
  });
  switch (state) {
    case "closed":
      if (failure === undefined) return to("closed");
      return count + 1 >= limits.failures ? to("open") : to("closed", count + 1);
    case "open":
      if (failure !== undefined) return to("open");
      return limits.successes <= 1 ? to("closed") : to("half-open", 1);
    case "half-open":
      if (failure !== undefined) return to("open");
      return count + 1 >= limits.successes ? to("closed") : to("half-open", count + 1);
    default:
      return state satisfies never;
  }
}
