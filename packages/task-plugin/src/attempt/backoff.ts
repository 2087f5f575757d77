import { type Backoff, backoffDelay } from "@flyte-ts/async";

/**
 * Doubles the mean delay from 0.2 s to 20 s, with a jitter of ±25 %. `initialMs` and `maxMs` are
 * the largest delays, 5/4 of the mean; `jitter` is the part by which a delay may be shorter.
 */
const REDELIVERY: Backoff = { initialMs: 250, maxMs: 25_000, jitter: 0.4 };

/**
 * Delay before the next try after `tries` failed ones, spread so that many attempts do not return
 * at once.
 */
export function redeliveryDelay(tries: number, random: () => number): number {
  return backoffDelay(REDELIVERY, tries, random);
}
