import { parseGoDuration } from "@flyte-ts/domain/duration";
import { type CronField, cronFieldRules, parseCronField } from "./cron-field.js";
import { isTimeZone } from "./time-zone.js";

/** Times that match five fields. */
export interface CronFields {
  readonly kind: "fields";
  /** Time zone in the expression, such as `Europe/Berlin`; undefined: the evaluator's. */
  readonly zone: string | undefined;
  readonly minute: CronField;
  readonly hour: CronField;
  readonly dayOfMonth: CronField;
  readonly month: CronField;
  readonly dayOfWeek: CronField;
}

/** `@every 1h30m`: whole seconds, at least one. */
export interface CronInterval {
  readonly kind: "interval";
  readonly intervalMs: number;
}

export type CronExpression = CronFields | CronInterval;

export type CronParse = { readonly ok: true; readonly expression: CronExpression } | { readonly ok: false; readonly problem: string };

const descriptors: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/**
 * Parses a schedule as Flyte's scheduler does (the standard form of robfig/cron v3): five fields
 * (minute, hour, day of month, month, day of week; lists, ranges, steps, names), `@hourly` and
 * similar, or `@every 1h30m`; each optionally after `CRON_TZ=Europe/Berlin` or `TZ=…`. A day must
 * match both day fields when one of them contains `*` or `?` (without a step above 1), otherwise
 * either.
 */
export function parseCron(text: string): CronParse {
  if (text === "") return refused("the expression is empty");
  let rest = text;
  let zone: string | undefined;
  const named = /^(?:CRON_)?TZ=([^ ]*)( |$)/.exec(text);
  if (named !== null) {
    const name = named[1] ?? "";
    if (name !== "Local" && !isTimeZone(name)) return refused(`unknown time zone ${name}`);
    zone = name === "Local" ? undefined : name || "UTC";
    rest = text.slice(named[0].length).trim();
  }
  if (rest.startsWith("@every ")) return parseInterval(rest);
  if (rest.startsWith("@") && !Object.hasOwn(descriptors, rest)) return refused(`unrecognized descriptor: ${rest}`);
  const words = (descriptors[rest] ?? rest).split(/\s+/).filter((word) => word !== "");
  if (words.length !== 5) return refused(`expected exactly 5 fields, found ${words.length}: [${text}]`);
  const fields = {} as Record<keyof typeof cronFieldRules, CronField>;
  for (const [i, name] of (Object.keys(cronFieldRules) as (keyof typeof cronFieldRules)[]).entries()) {
    const field = parseCronField(words[i] ?? "", cronFieldRules[name]);
    if (typeof field === "string") return refused(field);
    fields[name] = field;
  }
  return { ok: true, expression: { kind: "fields", zone, ...fields } };
}

function parseInterval(text: string): CronParse {
  const nanoseconds = parseGoDuration(text.slice("@every ".length));
  if (nanoseconds === undefined) return refused(`failed to parse duration ${text}`);
  return { ok: true, expression: { kind: "interval", intervalMs: Math.max(Number(nanoseconds / 1_000_000_000n), 1) * 1000 } };
}

function refused(problem: string): CronParse {
  return { ok: false, problem };
}
