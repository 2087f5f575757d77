/** Values that one of the five fields matches. */
export interface CronField {
  /** Indexed by value; 1 where it matches. */
  readonly admits: Uint8Array;
  /**
   * True when it contains `*` or `?` without a step: this decides how the two day fields combine.
   */
  readonly isStar: boolean;
}

interface FieldRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of values, the first one for 0. */
  readonly names?: readonly string[];
}

export const cronFieldRules = {
  minute: { name: "minute", min: 0, max: 59 },
  hour: { name: "hour", min: 0, max: 23 },
  dayOfMonth: { name: "day of month", min: 1, max: 31 },
  month: {
    name: "month",
    min: 1,
    max: 12,
    names: ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  },
  dayOfWeek: { name: "day of week", min: 0, max: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
} as const satisfies Record<string, FieldRule>;

/**
 * Parses a field: comma-separated ranges. Returns a text that describes the problem when it is
 * invalid.
 */
export function parseCronField(text: string, rule: FieldRule): CronField | string {
  const admits = new Uint8Array(rule.max + 1);
  let isStar = false;
  for (const part of text.split(",")) {
    if (part === "") continue;
    const range = parseRange(part, rule);
    if (typeof range === "string") return `${rule.name}: ${range}: ${part}`;
    for (let value = range.start; value <= range.end; value += range.step) admits[value] = 1;
    isStar ||= range.isStar;
  }
  return { admits, isStar };
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly isStar: boolean;
}

/**
 * Parses `*`, `?`, `5`, `1-5`, `1-5/2`, `5/10` (from 5 to the end), names for months and days.
 * Anything after `*-` is ignored.
 */
function parseRange(part: string, rule: FieldRule): Range | string {
  const [range = "", stepText, ...tooMany] = part.split("/");
  if (tooMany.length > 0) return "too many slashes";
  const [low = "", high, ...more] = range.split("-");
  let start = rule.min;
  let end = rule.max;
  const isStar = low === "*" || low === "?";
  if (!isStar) {
    if (more.length > 0) return "too many hyphens";
    const first = numberOf(low, rule);
    const last = high === undefined ? first : numberOf(high, rule);
    if (first === undefined || last === undefined) return "not a number or name";
    start = first;
    end = last;
  }
  let step = 1;
  if (stepText !== undefined) {
    if (!/^\+?\d+$/.test(stepText)) return "the step is not a number";
    step = Number(stepText);
    if (step === 0) return "the step must be positive";
    if (high === undefined) end = rule.max;
  }
  if (start < rule.min) return `${start} is below the minimum ${rule.min}`;
  if (end > rule.max) return `${end} is above the maximum ${rule.max}`;
  if (start > end) return `the range begins (${start}) after its end (${end})`;
  return { start, end, step, isStar: isStar && step === 1 };
}

function numberOf(text: string, rule: FieldRule): number | undefined {
  if (/^\+?\d{1,9}$/.test(text)) return Number(text);
  const index = text === "" ? -1 : (rule.names?.indexOf(text.toLowerCase()) ?? -1);
  return index < 0 ? undefined : index;
}
