import { BoundedMap } from "@flyte-ts/async";

export interface LogSamplerOptions {
  /** Minimum interval between two lines of one key, ms. */
  readonly intervalMs: number;
  readonly now: () => number;
}

/** Maximum number of remembered keys. */
const MAX_KEYS = 1_000;

/** Rate-limits log lines: at most one line per key and interval. */
export class LogSampler {
  readonly #last = new BoundedMap<string, { at: number; left: number }>(MAX_KEYS);

  constructor(private readonly options: LogSamplerOptions) {}

  /**
   * Number of lines of this key suppressed since the last one; undefined when this one is
   * suppressed too.
   */
  sample(key: string): number | undefined {
    const now = this.options.now();
    const last = this.#last.get(key);
    if (last !== undefined && now - last.at < this.options.intervalMs) {
      last.left++;
      return undefined;
    }
    this.#last.set(key, { at: now, left: 0 });
    return last?.left ?? 0;
  }
}
