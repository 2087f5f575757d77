/** Longest period whose changes are looked up at once, seconds. */
const CHUNK = 128 * 86_400;
/** No zone changes its offset twice within this time, seconds. */
const SAMPLE = 86_400;

interface Chunk {
  /** Second of the epoch from which the offset of the same index applies. */
  readonly starts: readonly number[];
  readonly offsets: readonly number[];
}

/** True when the platform's zone table has this name; empty is UTC. */
export function isTimeZone(name: string): boolean {
  if (name === "") return true;
  // The platform also accepts plain offsets; Flyte does not.
  if (/^[+-]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Caches a zone's offsets from UTC. The platform's table is queried once per period of about four
 * months: a query takes microseconds, and a schedule needs millions.
 */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  readonly #chunks = new Map<number, Chunk>();
  #from = Number.NaN;
  #to = Number.NaN;
  #offset = 0;

  /** @throws RangeError when there is no such zone. */
  constructor(readonly name: string) {
    this.#format = new Intl.DateTimeFormat("en-US", { timeZone: name || "UTC", timeZoneName: "longOffset" });
    if (this.#format.resolvedOptions().timeZone !== "UTC") return;
    this.#from = Number.NEGATIVE_INFINITY;
    this.#to = Number.POSITIVE_INFINITY;
  }

  /** Offset from UTC at this second of the epoch, seconds. */
  offsetAt(second: number): number {
    if (second >= this.#from && second < this.#to) return this.#offset;
    const index = Math.floor(second / CHUNK);
    let chunk = this.#chunks.get(index);
    if (chunk === undefined) {
      chunk = this.#look(index * CHUNK);
      this.#chunks.set(index, chunk);
    }
    let i = chunk.starts.length - 1;
    while ((chunk.starts[i] as number) > second) i--;
    this.#from = chunk.starts[i] as number;
    this.#to = chunk.starts[i + 1] ?? (index + 1) * CHUNK;
    this.#offset = chunk.offsets[i] as number;
    return this.#offset;
  }

  #look(from: number): Chunk {
    const starts = [from];
    const offsets = [this.#ask(from)];
    for (let second = from; second < from + CHUNK; second += SAMPLE) {
      const before = offsets.at(-1);
      let low = second;
      let high = Math.min(second + SAMPLE, from + CHUNK - 1);
      const after = this.#ask(high);
      if (after === before) continue;
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (this.#ask(middle) === before) low = middle;
        else high = middle;
      }
      starts.push(high);
      offsets.push(after);
    }
    return { starts, offsets };
  }

  #ask(second: number): number {
    const text = this.#format.format(second * 1000);
    const match = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(text);
    if (match === null) throw new Error(`the offset of time zone ${this.name} cannot be read from ${text}`);
    const seconds = Number(match[2] ?? 0) * 3600 + Number(match[3] ?? 0) * 60 + Number(match[4] ?? 0);
    return match[1] === "-" ? -seconds : seconds;
  }
}

/** Caches zones by name. */
export class TimeZones {
  readonly #known = new Map<string, TimeZone>();

  /** @throws RangeError when there is no such zone. */
  get(name: string): TimeZone {
    let zone = this.#known.get(name);
    if (zone === undefined) {
      zone = new TimeZone(name);
      this.#known.set(name, zone);
    }
    return zone;
  }
}
