import type { DateTimeValue } from "../form-value.js";
import type { Reading } from "./number.js";

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
const TEXT = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i;

/**
 * Reads a moment as its JSON form in UTC: `2026-11-13T23:00:00Z`. A text without an offset is in
 * the zone of the value.
 */
export function readDateTime({ at, zone }: DateTimeValue): Reading<string> {
  const text = at.trim();
  if (text === "") return { problem: "Write a date and time, such as 2026-11-14 08:30.", isEmpty: true };
  const match = TEXT.exec(text);
  if (match === null) return { problem: "Not a date and time: write it as 2026-11-14 08:30, with seconds if you need them." };
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", offset = ""] = match;
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(local) || new Date(local).getUTCDate() !== Number(day))
    return { problem: `There is no such time: check ${year}-${month}-${day} ${hour}:${minute}:${second}.` };
  const ms = offset === "" ? fromZone(local, zone) : local - offsetMs(offset);
  const utc = new Date(ms).toISOString();
  if (!/^\d{4}-/.test(utc) || utc.startsWith("0000")) return { problem: "Out of range: write a year from 1 to 9999." };
  const digits = fraction.replace(/0+$/, "");
  return { value: `${utc.slice(0, 19)}${digits === "" ? "" : `.${digits}`}Z` };
}

/** Returns a moment in its JSON form as a form holds it, in a zone. */
export function dateTimeValue(json: string, zone: string): DateTimeValue | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?Z$/.exec(json);
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  const ms = Date.parse(`${whole}Z`);
  const local = new Date(ms + zoneOffsetMs(ms, zone)).toISOString().slice(0, 19).replace("T", " ");
  const shown = { at: local + fraction.replace(/\.?0+$/, ""), zone };
  // An hour that occurs twice, when summer time ends, stays exact in UTC.
  return fromZone(Date.parse(`${local.replace(" ", "T")}Z`), zone) === ms
    ? shown
    : { ...shown, at: `${whole.replace("T", " ")}${fraction}Z` };
}

/** Returns the moment of a wall clock, ms of the epoch as if in UTC, in a zone. */
function fromZone(localMs: number, zone: string): number {
  const guess = localMs - zoneOffsetMs(localMs, zone);
  return localMs - zoneOffsetMs(guess, zone);
}

function offsetMs(text: string): number {
  if (/^z$/i.test(text)) return 0;
  const [hours, minutes] = [text.slice(1, 3), text.slice(-2)];
  return (text.startsWith("-") ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}

/** Returns by how much a zone is before UTC at a moment, ms; 0 for an unknown zone. */
function zoneOffsetMs(ms: number, zone: string): number {
  if (zone === "UTC") return 0;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("sv-SE", {
      timeZone: zone,
      ...({ year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const),
    });
  } catch {
    return 0;
  }
  const local = Date.parse(`${format.format(ms).replace(" ", "T")}Z`);
  return Number.isNaN(local) ? 0 : local - Math.floor(ms / SECOND_MS) * SECOND_MS;
}
