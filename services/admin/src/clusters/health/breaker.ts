/**
 * State of a cluster's circuit breaker.
 * - `closed`: the cluster gets new work.
 * - `open`: it gets none; several probes failed in succession.
 * - `half-open`: it responds again, and gets work after further successes.
 */
export type BreakerState = "closed" | "open" | "half-open";

export interface Breaker {
  readonly state: BreakerState;
  /** Time of the last state change, ms. */
  readonly since: number;
  /** Consecutive answers: failures while closed, successes while half-open. */
  readonly count: number;
  /** The last failure; empty without one. */
  readonly reason: string;
}

export interface BreakerLimits {
  readonly failures: number;
  readonly successes: number;
}

/** Initial breaker: closed, and opened by a failure of the first probe. */
export function newBreaker(now: number, { failures }: BreakerLimits): Breaker {
  return { state: "closed", since: now, count: failures - 1, reason: "" };
}

/** Applies one probe to the breaker; `failure` is its error, undefined on success. */
export function nextBreakerState(
  breaker: Breaker,
  limits: BreakerLimits,
  { failure, now }: { failure: string | undefined; now: number },
): Breaker {
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
