const unitNanoseconds: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

const MAX_INT64 = 2n ** 63n - 1n;
const pattern = String.raw`(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)`;
const whole = new RegExp(`^([+-]?)((?:${pattern})+)$`);
const parts = new RegExp(pattern, "g");

/** Nanoseconds of a duration written as Go does (`1h30m`, `-1.5s`, `300ms`, `0`); undefined when it is none or outgrows 64 bits. */
export function parseGoDuration(text: string): bigint | undefined {
  if (/^[+-]?0$/.test(text)) return 0n;
  const match = text.length > 200 ? null : whole.exec(text);
  if (match === null) return undefined;
  let total = 0;
  for (const [, number = "", unit = ""] of (match[2] ?? "").matchAll(parts)) total += Number(number) * (unitNanoseconds[unit] ?? 0);
  return inRange(match[1] === "-" ? -total : total);
}

/** Like {@link parseGoDuration}; a plain number counts seconds. */
export function parseDuration(text: string): bigint | undefined {
  const plain = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(text);
  return plain ? inRange(Number(text) * 1e9) : parseGoDuration(text);
}

function inRange(nanoseconds: number): bigint | undefined {
  if (!Number.isFinite(nanoseconds)) return undefined;
  const value = BigInt(Math.round(nanoseconds));
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value;
}
