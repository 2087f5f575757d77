import { type Backoff, backoffDelay } from "@flyte-ts/async";

/**
 * Doubles from 0.2 s to 20 s, with a jitter of ±25 %: the largest delay is 5/4 of the mean, and
 * jitter takes up to 2/5 of it.
 */
const REDELIVERY: Backoff = { initialMs: 250, maxMs: 25_000, jitter: 0.4 };

/**
 * Delay before the next try after `tries` failed ones, spread so that many attempts do not return
 * at once.
 */
export function redeliveryDelay(tries: number, random: () => number): number {
  return backoffDelay(REDELIVERY, tries, random);
}
