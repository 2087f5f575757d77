import { parseGoDuration } from "@flyte-ts/domain";

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const fields: readonly Field[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"] },
  { name: "day of week", min: 0, max: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

const descriptors = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);

/**
 * Why a text is no schedule, or undefined when it is one: five fields (minute, hour,
 * day of month, month, day of week; lists, ranges, steps, names), `@hourly` and its
 * like, or `@every 1h30m`; in front of either `CRON_TZ=Europe/Berlin` or `TZ=…`.
 */
export function cronProblem(text: string): string | undefined {
  if (text === "") return "the expression is empty";
  let rest = text;
  const zone = /^(?:CRON_)?TZ=(\S*)(\s+|$)/.exec(text);
  if (zone !== null) {
    if (!isTimeZone(zone[1] ?? "")) return `unknown time zone ${zone[1]}`;
    rest = text.slice(zone[0].length).trim();
  }
  if (rest.startsWith("@")) return descriptorProblem(rest);
  const words = rest.split(/\s+/).filter((word) => word !== "");
  if (words.length !== fields.length) return `expected exactly 5 fields, found ${words.length}: [${text}]`;
  for (const [i, field] of fields.entries()) {
    for (const part of (words[i] ?? "").split(",")) {
      const problem = part === "" ? undefined : rangeProblem(part, field);
      if (problem !== undefined) return `${field.name}: ${problem}: ${part}`;
    }
  }
  return undefined;
}

function descriptorProblem(text: string): string | undefined {
  if (descriptors.has(text)) return undefined;
  if (!text.startsWith("@every ")) return `unrecognized descriptor: ${text}`;
  return parseGoDuration(text.slice("@every ".length)) === undefined ? `failed to parse duration ${text}` : undefined;
}

/** `*`, `5`, `1-5`, `1-5/2`, steps of 15 (`0-59/15`), names for months and days. */
function rangeProblem(part: string, field: Field): string | undefined {
  const [range = "", step, ...tooMany] = part.split("/");
  if (tooMany.length > 0) return "too many slashes";
  const [low = "", high, ...more] = range.split("-");
  let start = field.min;
  let end = field.max;
  if (low !== "*" && low !== "?") {
    const first = numberOf(low, field);
    if (first === undefined) return "not a number or name";
    start = first;
    end = first;
    if (more.length > 0) return "too many hyphens";
    if (high !== undefined) {
      const last = numberOf(high, field);
      if (last === undefined) return "not a number or name";
      end = last;
    }
  }
  if (step !== undefined) {
    if (!/^\+?\d+$/.test(step)) return "the step is not a number";
    if (Number(step) === 0) return "the step must be positive";
    if (high === undefined) end = field.max;
  }
  if (start < field.min) return `${start} is below the minimum ${field.min}`;
  if (end > field.max) return `${end} is above the maximum ${field.max}`;
  return start > end ? `the range begins (${start}) after its end (${end})` : undefined;
}

function numberOf(text: string, field: Field): number | undefined {
  if (/^\+?\d{1,9}$/.test(text)) return Number(text);
  const index = text === "" ? -1 : (field.names?.indexOf(text.toLowerCase()) ?? -1);
  return index < 0 ? undefined : index;
}

function isTimeZone(name: string): boolean {
  if (name === "" || name === "Local") return true;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
