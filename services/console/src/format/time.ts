/** Time zone in which times are shown: `local`, `UTC`, or the name of another zone. */
export type ZoneChoice = string;

const DAY_MS = 24 * 60 * 60 * 1_000;
const WEEK_DAYS = 6;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** Returns the name of the zone; an unknown name is local time. */
export function zoneName(zone: ZoneChoice): string | undefined {
  if (zone === "local") return undefined;
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Reads a timestamp in its JSON form in ms of the epoch; undefined for none. */
export function readTimeMs(text: string | null | undefined): number | undefined {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * Formats a time as short as it is clear now: `14:03:22` today, `Sat 23:00` within a week,
 * `18 Nov 02:00` this year, `18 Nov 2024` before.
 */
export function formatTime(timeMs: number, nowMs: number, zone: ZoneChoice): string {
  const [time, now] = [partsOf(timeMs, zone), partsOf(nowMs, zone)];
  if (time.date === now.date) return time.clock;
  const short = time.clock.slice(0, 5);
  const days = Math.abs(Date.parse(now.date) - Date.parse(time.date)) / DAY_MS;
  if (timeMs < nowMs && days <= WEEK_DAYS) return `${time.weekday} ${short}`;
  if (time.year === now.year) return `${time.day} ${time.month} ${short}`;
  return `${time.day} ${time.month} ${time.year}`;
}

/**
 * Formats a time beside others at a distance of `stepMs`, so that no two of them read the same:
 * `18 Nov` for days, `14:03`, `14:03:22`, and below a second `14:03:22.25`. Midnight is the day
 * that it begins.
 */
export function formatTick(timeMs: number, stepMs: number, zone: ZoneChoice): string {
  // Steps below a millisecond leave fractions that no clock shows.
  const wholeMs = Math.round(timeMs);
  const { clock, day, month } = partsOf(wholeMs, zone);
  const milliseconds = ((wholeMs % SECOND_MS) + SECOND_MS) % SECOND_MS;
  if (stepMs >= DAY_MS || (clock === "00:00:00" && milliseconds === 0)) return `${day} ${month}`;
  if (stepMs >= MINUTE_MS) return clock.slice(0, 5);
  const digits = [SECOND_MS, 100, 10].filter((unit) => stepMs < unit).length;
  return digits === 0 ? clock : `${clock}.${String(milliseconds).padStart(3, "0").slice(0, digits)}`;
}

/**
 * Converts a time to that of the zone's clock as if it were in UTC: whole hours and days of the
 * zone are multiples of their length.
 */
export function clockTimeMs(timeMs: number, zone: ZoneChoice): number {
  const { date, clock } = partsOf(timeMs, zone);
  return Date.parse(`${date}T${clock}Z`) + (timeMs - Math.floor(timeMs / SECOND_MS) * SECOND_MS);
}

/** Formats a time as RFC 3339 in its zone: `2026-11-27T09:15:26.769+01:00`. */
export function formatRfc3339(timeMs: number, zone: ZoneChoice): string {
  const { date, clock } = partsOf(timeMs, zone);
  const local = Date.parse(`${date}T${clock}Z`);
  const offsetMinutes = Math.round((local - Math.floor(timeMs / 1_000) * 1_000) / 60_000);
  const milliseconds = String(((timeMs % 1_000) + 1_000) % 1_000).padStart(3, "0");
  return `${date}T${clock}.${milliseconds}${formatOffset(offsetMinutes)}`;
}

function formatOffset(minutes: number): string {
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  const [hours, rest] = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, "0"));
  return `${minutes < 0 ? "-" : "+"}${hours}:${rest}`;
}

interface TimeParts {
  /** `2026-11-27` */
  readonly date: string;
  /** `09:15:26` */
  readonly clock: string;
  readonly weekday: string;
  readonly day: string;
  readonly month: string;
  readonly year: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: ZoneChoice): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const timeZone = zoneName(zone);
  const made = new Intl.DateTimeFormat("en-GB", {
    ...(timeZone !== undefined && { timeZone }),
    year: "numeric",
    month: "short",
    day: "numeric",
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  formats.set(zone, made);
  return made;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Reads the parts of a time. Local time and UTC do without Intl, which takes 40 ms to load. */
function partsOf(timeMs: number, zone: ZoneChoice): TimeParts {
  if (zone === "UTC") return utcParts(timeMs);
  const name = zoneName(zone);
  // A local time is read as if it were UTC.
  return name === undefined ? utcParts(timeMs - new Date(timeMs).getTimezoneOffset() * MINUTE_MS) : intlParts(timeMs, zone);
}

function utcParts(timeMs: number): TimeParts {
  const time = new Date(timeMs);
  const [date = "", clock = ""] = time.toISOString().split("T");
  return {
    date,
    clock: clock.slice(0, 8),
    weekday: WEEKDAYS[time.getUTCDay()] ?? "",
    day: String(time.getUTCDate()),
    month: MONTHS[time.getUTCMonth()] ?? "",
    year: String(time.getUTCFullYear()),
  };
}

function intlParts(timeMs: number, zone: ZoneChoice): TimeParts {
  const of = Object.fromEntries(
    formatOf(zone)
      .formatToParts(timeMs)
      .map(({ type, value }) => [type, value]),
  ) as Partial<Record<Intl.DateTimeFormatPartTypes, string>>;
  const { year = "", day = "", weekday = "", hour = "", minute = "", second = "" } = of;
  const month = (of.month ?? "").slice(0, 3);
  const monthNumber = String(MONTHS.indexOf(month) + 1).padStart(2, "0");
  return { date: `${year}-${monthNumber}-${day.padStart(2, "0")}`, clock: `${hour}:${minute}:${second}`, weekday, day, month, year };
}
