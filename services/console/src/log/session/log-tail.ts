import type { LineStore } from "../text/line-store.js";
import type { LogLine } from "./protocol.js";
import { readLogMessage } from "./read-log-message.js";

/** Lines after which a log is long: its end is asked for while it is read. */
export const LONG_LINES = 10_000;
/** Lines at the end of a long log. */
export const TAIL_LINES = 200;
/** A log that becomes long after this time is not behind its pod, ms. */
const BEHIND_MS = 10_000;

interface TailOptions {
  /** Tells the lines at the end; undefined once the log is read so far. */
  readonly post: (lines: readonly LogLine[] | undefined) => void;
  readonly now: () => number;
}

/** End of a long log, which is shown until all lines before it are read. */
export class LogTail {
  readonly #options: TailOptions;
  readonly #until: number;
  #isAsked = false;
  #isOver = false;
  /** Time of its last line, once it is there. */
  #lastMs: number | undefined;

  constructor(options: TailOptions) {
    this.#options = options;
    this.#until = options.now() + BEHIND_MS;
  }

  /**
   * Takes note of lines that have been read.
   *
   * @param ask begins a stream of the last lines
   */
  check(store: LineStore, ask: () => AsyncIterable<Uint8Array>): void {
    const { length } = store;
    if (this.#lastMs !== undefined && (store.timeMs(length - 1) ?? 0) >= this.#lastMs) this.end();
    if (this.#isAsked || length < LONG_LINES) return;
    this.#isAsked = true;
    if (this.#options.now() < this.#until) void this.#read(store, ask());
  }

  /** Ends the show: the log is read, or another one is. */
  end(): void {
    [this.#isAsked, this.#isOver] = [true, true];
    if (this.#lastMs === undefined) return;
    this.#lastMs = undefined;
    this.#options.post(undefined);
  }

  async #read(store: LineStore, messages: AsyncIterable<Uint8Array>): Promise<void> {
    const lines: LogLine[] = [];
    const decoder = new TextDecoder();
    try {
      for await (const bytes of messages) {
        readLogMessage(bytes, (text, timeMs) =>
          lines.push({ text: decoder.decode(text), timeMs: Number.isNaN(timeMs) ? undefined : timeMs }),
        );
      }
    } catch {
      // The stream of all lines reports what is wrong.
      return;
    }
    const lastMs = lines.at(-1)?.timeMs;
    // Without times nothing tells when the log is read so far.
    if (this.#isOver || lastMs === undefined || (store.timeMs(store.length - 1) ?? 0) >= lastMs) return;
    this.#lastMs = lastMs;
    this.#options.post(lines.slice(-TAIL_LINES));
  }
}
