/** A length of time. */
export interface Duration {
  readonly milliseconds: number;
}

/** A duration as text: `90s`, `1.5h`. */
export type DurationText = `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3 };

/**
 * Reads a duration.
 *
 * @throws TypeError when the text is not a number with a unit
 */
export function durationOf(value: Duration | string): Duration {
  if (typeof value !== "string") return value;
  const [, number, unit] = /^(-?\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value) ?? [];
  if (number === undefined || unit === undefined)
    throw new TypeError(`${JSON.stringify(value)} is not a duration: write a number and ms, s, m, h or d, such as "90s"`);
  return { milliseconds: Number(number) * (UNITS[unit] ?? 0) };
}
