import { cronRecurrence, parseCron, TimeZones } from "@flyte-ts/schedules";
import { type CatchUpPolicy, type Schedule, scheduleKey } from "../schedule.js";

/** The day before clocks change in New York. */
export const START = Date.parse("2026-03-07T00:00:00Z");
export const MINUTE = 60_000;
export const DAY = 1440 * MINUTE;

const zones = new TimeZones();

/** A schedule that is active from the beginning. */
export function sampleSchedule(text: string, catchUp: CatchUpPolicy): Schedule {
  const launchPlan = { project: "p", domain: "d", name: `${text} ${catchUp}`, version: "v" };
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  const recurrence = cronRecurrence(parsed.expression, { zones, zone: "UTC", from: START });
  return { key: scheduleKey(launchPlan), launchPlan, recurrence, zone: "UTC", activatedAt: START, catchUp, kickoffInput: "" };
}

/** All due times until `until`. */
export function dueTimes({ recurrence }: Schedule, until: number): number[] {
  const times: number[] = [];
  for (let at = recurrence.next(START); at !== undefined && at <= until; at = recurrence.next(at)) times.push(at);
  return times;
}
