import { BoundedMap } from "@flyte-ts/async";

/** Maximum of logins that one source may begin per minute. */
const MAX_PER_MINUTE = 120;
const MINUTE_MS = 60_000;
/** Maximum of sources that are counted; the oldest is evicted. */
const MAX_KNOWN = 10_000;

/** @returns seconds until the source may begin the next login; undefined when it may now. */
export type LoginRateLimiter = (source: string) => number | undefined;

/**
 * Rate limiter for the logins that a source begins: each is stored for minutes, and needs no
 * credentials.
 */
export function createLoginRateLimiter(clock: () => Date): LoginRateLimiter {
  const known = new BoundedMap<string, { count: number; readonly since: number }>(MAX_KNOWN);
  return (source) => {
    const now = clock().getTime();
    let counted = known.get(source);
    if (counted === undefined || now - counted.since >= MINUTE_MS || now < counted.since) {
      counted = { count: 0, since: now };
      known.set(source, counted);
    }
    if (counted.count >= MAX_PER_MINUTE) return Math.ceil((counted.since + MINUTE_MS - now) / 1_000);
    counted.count++;
    return undefined;
  };
}
