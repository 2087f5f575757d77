export interface LogSamplerOptions {
  /** Lines about one thing are this far apart at least, ms. */
  readonly intervalMs: number;
  readonly now: () => number;
}

/** Things that are remembered at once. */
const REMEMBERED = 1_000;

/** Keeps what happens very often from filling the log: of lines about one thing one in an interval is written. */
export class LogSampler {
  readonly #last = new Map<string, { at: number; left: number }>();

  constructor(private readonly options: LogSamplerOptions) {}

  /** How many lines about this were left out since the last one; undefined when this one is left out too. */
  take(about: string): number | undefined {
    const now = this.options.now();
    const last = this.#last.get(about);
    if (last !== undefined && now - last.at < this.options.intervalMs) {
      last.left++;
      return undefined;
    }
    this.#last.delete(about);
    this.#last.set(about, { at: now, left: 0 });
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= REMEMBERED) break;
      this.#last.delete(oldest);
    }
    return last?.left ?? 0;
  }
}
