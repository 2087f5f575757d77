import type { IncomingMessage } from "node:http";

/** Requests of one source in a minute that may begin a sign-in. */
const MOST = 120;
const MINUTE_MS = 60_000;
/** Sources that are counted at once; the one that was first seen is forgotten. */
const MAX_KNOWN = 10_000;

/** Paths whose requests need no credentials and leave a row in the database until it expires. */
const BEGINNINGS = /^\/oauth2\/(authorize|device|device_authorization)(\?|$)/;

/**
 * Bounds the sign-ins that a source begins: each is kept for minutes, and anyone may begin one.
 *
 * @returns seconds until the source may begin the next one; undefined where it may now.
 */
export function createBeginLimit(clock: () => Date): (request: Pick<IncomingMessage, "url">, source: string) => number | undefined {
  const known = new Map<string, { count: number; readonly since: number }>();
  return ({ url = "" }, source) => {
    if (!BEGINNINGS.test(url)) return undefined;
    const now = clock().getTime();
    let counted = known.get(source);
    if (counted === undefined || now - counted.since >= MINUTE_MS || now < counted.since) {
      known.delete(source);
      counted = { count: 0, since: now };
      known.set(source, counted);
      const [oldest] = known.keys();
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    }
    if (counted.count >= MOST) return Math.ceil((counted.since + MINUTE_MS - now) / 1_000);
    counted.count++;
    return undefined;
  };
}
