const FIRST_MS = 200;
const LONGEST_MS = 20_000;

/**
 * Delay before the next try after `tries` failed ones: doubles from 0.2 s to 20 s, with a jitter of ±25 % so that many
 * attempts do not return at once.
 */
export function redeliveryDelay(tries: number, random: () => number): number {
  const full = Math.min(FIRST_MS * 2 ** Math.min(tries, 10), LONGEST_MS);
  return Math.round(full * (0.75 + random() / 2));
}
