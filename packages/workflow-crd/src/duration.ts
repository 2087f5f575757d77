const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, μs: 1e-3, ns: 1e-6 };
const GO_DURATION = /^[+-]?(?:\d+(?:\.\d*)?(?:h|ms|us|µs|μs|ns|m|s)|\.\d+(?:h|ms|us|µs|μs|ns|m|s))+$/;

/** Milliseconds of a duration as Go writes it (`1h2m3.5s`); undefined for other text. */
export function parseGoDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!GO_DURATION.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d*\.?\d*)(h|ms|us|µs|μs|ns|m|s)/g)) ms += Number(amount) * (UNITS[unit ?? ""] ?? 0);
  return text.startsWith("-") ? -ms : ms;
}

/** A duration as Go writes it: `0s`, `1.5s`, `1h0m3s`, below one second `15ms`, `1.5µs`. */
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

/** `value` divided by ten to `places`, with as many decimals as it needs. */
function decimal(value: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = (value % scale).toString().padStart(places, "0").replace(/0+$/, "");
  return fraction === "" ? String(value / scale) : `${value / scale}.${fraction}`;
}
