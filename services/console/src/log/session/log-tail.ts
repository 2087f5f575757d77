import type { LineStore } from "../text/line-store.js";
import type { LogLine } from "./protocol.js";

/** Lines after which a log is long: its end is shown while it is read. */
export const LONG_LINES = 2_000;
/** Lines at the end of a log that its stream begins with. */
export const TAIL_LINES = 200;

/** End of a long log, which is shown until all lines before it are read. */
export class LogTail {
  /** Tells the lines at the end; undefined once the log is read so far. */
  readonly #post: (lines: readonly LogLine[] | undefined) => void;
  readonly #decoder = new TextDecoder();
  #lines: LogLine[] = [];
  #isShown = false;

  constructor(post: (lines: readonly LogLine[] | undefined) => void) {
    this.#post = post;
  }

  /** Adds a line of the end; its time is NaN if it is not known. */
  add(text: Uint8Array, timeMs: number): void {
    this.#lines.push({ text: this.#decoder.decode(text), timeMs: Number.isNaN(timeMs) ? undefined : timeMs });
  }

  /** Takes note of lines that have been read. */
  check(store: LineStore): void {
    // Without times nothing tells when the log is read so far.
    const lastMs = this.#lines.at(-1)?.timeMs;
    if (lastMs === undefined || store.length === 0) return;
    if ((store.timeMs(store.length - 1) ?? 0) >= lastMs) this.end();
    else if (!this.#isShown && store.length >= LONG_LINES) {
      this.#isShown = true;
      this.#post(this.#lines);
    }
  }

  /** Ends the show: the log is read, or another one is. */
  end(): void {
    this.#lines = [];
    if (!this.#isShown) return;
    this.#isShown = false;
    this.#post(undefined);
  }
}
