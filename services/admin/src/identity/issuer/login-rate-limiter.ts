import type { IncomingMessage } from "node:http";
import { BoundedMap } from "@flyte-ts/async";

/** Maximum of logins that one source may begin per minute. */
const MAX_PER_MINUTE = 120;
const MINUTE_MS = 60_000;
/** Maximum of sources that are counted; the oldest is evicted. */
const MAX_KNOWN = 10_000;

/** Paths that need no credentials and store a row until it expires. */
const LIMITED_PATHS = /^\/oauth2\/(authorize|device|device_authorization)(\?|$)/;

/**
 * Rate limiter for the logins that a source begins: each is stored for minutes, and needs no
 * credentials.
 *
 * @returns seconds until the source may begin the next one; undefined when it may now.
 */
export function createLoginRateLimiter(clock: () => Date): (request: Pick<IncomingMessage, "url">, source: string) => number | undefined {
  const known = new BoundedMap<string, { count: number; readonly since: number }>(MAX_KNOWN);
  return ({ url = "" }, source) => {
    if (!LIMITED_PATHS.test(url)) return undefined;
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
