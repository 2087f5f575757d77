/** Launches within a window and the one before it that count as many. */
const MANY = 10;
const WINDOW_MS = 60_000;
/** So many workflows are remembered. */
const MOST = 10_000;

interface Counted {
  readonly window: number;
  readonly before: number;
  count: number;
}

/** Which workflows this process launches often: more than ten times within one to two minutes. */
export class LaunchRate {
  readonly #counted = new Map<string, Counted>();

  constructor(private readonly clock: () => Date) {}

  /** Counts one more launch of the workflow, and tells whether these are many. */
  noteLaunch(workflow: string): boolean {
    const window = Math.floor(this.clock().getTime() / WINDOW_MS);
    const counted = this.#of(workflow, window);
    counted.count++;
    return counted.before + counted.count > MANY;
  }

  #of(workflow: string, window: number): Counted {
    const known = this.#counted.get(workflow);
    if (known?.window === window) return known;
    const counted = { window, before: known?.window === window - 1 ? known.count : 0, count: 0 };
    if (this.#counted.size >= MOST) this.#counted.clear();
    this.#counted.set(workflow, counted);
    return counted;
  }
}
