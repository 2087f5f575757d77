import type { Reading } from "./number.js";

const SECOND_NS = 1_000_000_000n;
const UNITS_NS: Readonly<Record<string, bigint>> = {
  w: 604_800n * SECOND_NS,
  d: 86_400n * SECOND_NS,
  h: 3_600n * SECOND_NS,
  m: 60n * SECOND_NS,
  s: SECOND_NS,
  ms: 1_000_000n,
  us: 1_000n,
  ns: 1n,
};
/** Longest duration of protobuf, in each direction. */
const MAX_SECONDS = 315_576_000_000n;
const DIGITS = 9;
const PART = /^\s*(\d+)(?:\.(\d{1,9}))?\s*(w|d|h|ms|us|ns|m|s)/i;

/** Reads a duration in nanoseconds: `1h 30m`, `90s`, `1.5s`, `-2d`. */
export function readDurationNs(text: string): Reading<bigint> {
  const trimmed = text.trim();
  if (trimmed === "") return { problem: "Write a duration, such as 1h 30m.", isEmpty: true };
  if (/^[+-]?[\d.]+$/.test(trimmed)) return { problem: `A duration needs a unit: write ${trimmed}s for seconds.` };
  let rest = trimmed.replace(/^[+-]/, "");
  let total = 0n;
  while (rest !== "") {
    const match = PART.exec(rest);
    if (match === null) return { problem: "Not a duration: write numbers with w, d, h, m, s, ms, us or ns, such as 1h 30m." };
    const [part, whole = "", fraction = "", unit = ""] = match;
    const scale = UNITS_NS[unit.toLowerCase()] ?? 0n;
    total += BigInt(whole) * scale + (BigInt(fraction.padEnd(DIGITS, "0")) * scale) / SECOND_NS;
    rest = rest.slice(part.length).trimStart();
  }
  if (total > MAX_SECONDS * SECOND_NS) return { problem: "Too long: write 10000 years or less." };
  return { value: trimmed.startsWith("-") ? -total : total };
}

/** Formats nanoseconds as parts from days to seconds: `1d 2h 3.5s`. */
export function formatDurationNs(durationNs: bigint): string {
  const size = durationNs < 0n ? -durationNs : durationNs;
  const parts: string[] = [];
  let rest = size;
  for (const unit of ["d", "h", "m"] as const) {
    const scale = UNITS_NS[unit] ?? 1n;
    if (rest >= scale) parts.push(`${rest / scale}${unit}`);
    rest %= scale;
  }
  if (rest > 0n || parts.length === 0) parts.push(`${seconds(rest)}s`);
  return (durationNs < 0n ? "-" : "") + parts.join(" ");
}

/** Writes a duration in its JSON form: `5400s`, `1.500s`. */
export function durationToJson(durationNs: bigint): string {
  return `${durationNs < 0n ? "-" : ""}${seconds(durationNs < 0n ? -durationNs : durationNs)}s`;
}

/** Reads a duration in its JSON form; undefined for another text. */
export function durationFromJson(text: string): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d{1,9}))?s$/.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = ""] = match;
  const size = BigInt(whole) * SECOND_NS + BigInt(fraction.padEnd(DIGITS, "0"));
  return sign === "-" ? -size : size;
}

function seconds(durationNs: bigint): string {
  const fraction = String(durationNs % SECOND_NS)
    .padStart(DIGITS, "0")
    .replace(/0+$/, "");
  return `${durationNs / SECOND_NS}${fraction === "" ? "" : `.${fraction}`}`;
}
