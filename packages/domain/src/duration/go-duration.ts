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
const pattern = String.raw`(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)`;
const whole = new RegExp(`^([+-]?)((?:${pattern})+)$`);
const parts = new RegExp(pattern, "g");

/**
 * Parses a duration as Go writes it (`1h30m`, `-1.5s`, `300ms`, `0`) into nanoseconds; undefined
 * when it is invalid or exceeds 64 bits.
 */
export function parseGoDuration(text: string): bigint | undefined {
  if (/^[+-]?0$/.test(text)) return 0n;
  const match = text.length > 200 ? null : whole.exec(text);
  if (match === null) return undefined;
  let total = 0;
  for (const [, number = "", unit = ""] of (match[2] ?? "").matchAll(parts)) total += Number(number) * (unitNanoseconds[unit] ?? 0);
  return wholeNanoseconds(match[1] === "-" ? -total : total);
}

/** Formats a duration as Go does: `0s`, `1.5s`, `1h0m3s`, below one second `15ms`, `1.5µs`. */
export function goDuration(nanoseconds: bigint): string {
  const sign = nanoseconds < 0n ? "-" : "";
  const nanos = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (nanos === 0n) return "0s";
  if (nanos < 1_000n) return `${sign}${nanos}ns`;
  if (nanos < 1_000_000n) return `${sign}${decimal(nanos, 3)}µs`;
  if (nanos < 1_000_000_000n) return `${sign}${decimal(nanos, 6)}ms`;
  const seconds = nanos / 1_000_000_000n;
  const hours = seconds / 3600n;
  const minutes = (seconds / 60n) % 60n;
  const rest = `${decimal(nanos % 60_000_000_000n, 9)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${rest}`;
  return minutes > 0n ? `${sign}${minutes}m${rest}` : `${sign}${rest}`;
}

/** Formats `value` divided by 10^`places`, with as many decimals as needed. */
function decimal(value: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = (value % scale).toString().padStart(places, "0").replace(/0+$/, "");
  return fraction === "" ? String(value / scale) : `${value / scale}.${fraction}`;
}

/** Converts seconds to nanoseconds; undefined when they exceed 64 bits. */
export function nanosecondsOf(seconds: number): bigint | undefined {
  return wholeNanoseconds(seconds * 1e9);
}

function wholeNanoseconds(nanoseconds: number): bigint | undefined {
  if (!Number.isFinite(nanoseconds)) return undefined;
  const value = BigInt(Math.round(nanoseconds));
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value;
}
