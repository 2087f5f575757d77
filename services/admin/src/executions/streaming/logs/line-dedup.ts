import type { LogPosition } from "./log-cursor.js";

export interface StampedLine {
  /** As the source writes it, RFC 3339; empty for a line without time. */
  readonly time: string;
  readonly text: string;
}

/** Maximum line length, bytes, since an incomplete line is buffered; longer lines are split. */
const MAX_BYTES = 256 * 1024;

/** Assembles lines from the chunks of a log. */
export class LineSplitter {
  #rest: Uint8Array[] = [];
  #restBytes = 0;

  /** Returns the lines completed by this chunk. */
  add(part: Uint8Array): StampedLine[] {
    const lines: StampedLine[] = [];
    let from = 0;
    for (let end = part.indexOf(10); end !== -1; end = part.indexOf(10, from)) {
      lines.push(this.#line(part.subarray(from, end)));
      from = end + 1;
    }
    if (from < part.length) {
      this.#rest.push(part.slice(from));
      this.#restBytes += part.length - from;
    }
    if (this.#restBytes > MAX_BYTES) lines.push(this.#line(new Uint8Array()));
    return lines;
  }

  /** Returns the text after the last line end, when the log ends. */
  end(): StampedLine[] {
    return this.#restBytes === 0 ? [] : [this.#line(new Uint8Array())];
  }

  #line(last: Uint8Array): StampedLine {
    const text = Buffer.concat([...this.#rest, last])
      .toString("utf8")
      .replace(/\r$/, "");
    [this.#rest, this.#restBytes] = [[], 0];
    const match = /^(\d{4}-\d\d-\d\dT\S{9,}) /.exec(text);
    return match?.[1] === undefined || nanosOf(match[1]) === undefined
      ? { time: "", text }
      : { time: match[1], text: text.slice(match[0].length) };
  }
}

/** Nanoseconds since the epoch; undefined for an invalid time. */
function nanosOf(time: string): bigint | undefined {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return undefined;
  const fraction = (/\.(\d{1,9})/.exec(time)?.[1] ?? "").padEnd(9, "0");
  return BigInt(Math.floor(ms / 1000)) * SECOND + BigInt(fraction);
}

const SECOND = 1_000_000_000n;

/**
 * Drops lines already sent when the log is read again from the second of its position. Lines need
 * not be in timestamp order, since programs write to two streams concurrently.
 */
export class LineDeduplicator {
  #position: LogPosition | undefined;
  #skip = 0;

  constructor(place: LogPosition | undefined) {
    this.#position = place;
    this.restart();
  }

  get position(): LogPosition | undefined {
    return this.#position;
  }

  /** Time from which to read the log. */
  get since(): Date | undefined {
    return this.#position && new Date(this.#position.second * 1000);
  }

  /** Starts another read of the log from {@link since}. */
  restart(): void {
    this.#skip = this.#position?.lines ?? 0;
  }

  /**
   * Starts before `tail`, or after it if `after` is true. `tail` contains the last lines of an
   * earlier read; `lines` may contain more lines by now.
   */
  seekToTail({ tail, after }: { readonly tail: readonly StampedLine[]; readonly after: boolean }, lines: readonly StampedLine[]): void {
    const same = (a: StampedLine | undefined, b: StampedLine) => a?.time === b.time && a.text === b.text;
    const found = lines.findIndex((_, index) => tail.every((line, offset) => same(lines[index + offset], line)));
    if (found === -1) return;
    this.filterNew(lines.slice(0, after ? found + tail.length : found));
    const seconds = lines.flatMap(({ time }) => nanosOf(time) ?? []).map((at) => at / SECOND);
    const first = seconds.reduce<bigint | undefined>((least, each) => (least === undefined || each < least ? each : least), undefined);
    // No line precedes the position: it becomes the earliest second, with no line sent.
    if (this.#position === undefined && first !== undefined) this.#position = { second: Number(first), lines: 0, newest: first * SECOND };
  }

  filterNew(lines: readonly StampedLine[]): StampedLine[] {
    return lines.filter((line) => this.#isNew(line));
  }

  #isNew({ time }: StampedLine): boolean {
    const at = nanosOf(time);
    if (at === undefined) return true;
    const second = Number(at / SECOND);
    const place = this.#position;
    if (place !== undefined && this.#skip > 0) {
      if (second < place.second) return false;
      // Sent lines are not newer than `newest`: if there are fewer of them now, log rotation
      // removed the others.
      if (at <= place.newest) {
        this.#skip--;
        return false;
      }
      this.#skip = 0;
    }
    if (place === undefined || second > place.second) {
      this.#position = { second, lines: 1, newest: at };
    } else {
      const newest = at > place.newest ? at : place.newest;
      this.#position = { second: place.second, lines: place.lines + (second === place.second ? 1 : 0), newest };
    }
    return true;
  }
}
