const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Reads a duration in its JSON form, such as `9.524s`, in ms; undefined for anything else. */
export function readDurationMs(text: string | null | undefined): number | undefined {
  const match = /^(-?\d+(?:\.\d+)?)s$/.exec(text ?? "");
  return match === null ? undefined : Number(match[1]) * SECOND_MS;
}

/** Formats a duration in its two largest units: `320 ms`, `4.9 s`, `41 s`, `6m 41s`, `1d 04h`. */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / SECOND_MS).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND_MS);
  if (seconds < 60) return `${seconds} s`;
  const whole = seconds * SECOND_MS;
  if (whole < HOUR_MS) return twoUnits(whole, [MINUTE_MS, "m"], [SECOND_MS, "s"]);
  if (whole < DAY_MS) return twoUnits(whole, [HOUR_MS, "h"], [MINUTE_MS, "m"]);
  return twoUnits(whole, [DAY_MS, "d"], [HOUR_MS, "h"]);
}

type Unit = readonly [ms: number, name: string];

function twoUnits(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)}${largeName} ${String(rest).padStart(2, "0")}${smallName}`;
}

/** Formats a duration in words of one unit: `21 s`, `5 min`, `3 h`, `2 days`. */
export function formatAge(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  const days = Math.floor(ms / DAY_MS);
  return days === 1 ? "1 day" : `${days} days`;
}
