/** Interval at which changes are sent to the page. */
const ROWS_INTERVAL_MS = 100;
/** Interval at which the order is rebuilt, at least. */
const ORDER_INTERVAL_MS = 250;
/** Interval at which the overview is counted, at least. */
const OVERVIEW_INTERVAL_MS = 1_000;
/** A step that took a time does not recur before this multiple of it: a tenth of one core. */
const REST = 10;

export interface PacedSteps {
  readonly isStale: () => boolean;
  readonly rebuild: () => void;
  readonly postRows: () => void;
  readonly postOverview: () => void;
}

export interface PaceOptions {
  readonly now: () => number;
  readonly schedule: (run: () => void, delayMs: number) => void;
}

/** Decides when changes are ordered and sent, so that many changes cost little. */
export class Pace {
  readonly #options: PaceOptions;
  readonly #steps: PacedSteps;
  #isScheduled = false;
  #rowsAt = Number.NEGATIVE_INFINITY;
  #orderAt = Number.NEGATIVE_INFINITY;
  #overviewAt = Number.NEGATIVE_INFINITY;
  #overviewIsStale = false;

  constructor(options: PaceOptions, steps: PacedSteps) {
    this.#options = options;
    this.#steps = steps;
  }

  /**
   * Sends the change at its time: the first of a burst at once, and the very first before further
   * ones are read.
   */
  changed(): void {
    this.#overviewIsStale = true;
    if (this.#isScheduled) return;
    if (this.#rowsAt === Number.NEGATIVE_INFINITY) return this.#send();
    this.#isScheduled = true;
    this.#options.schedule(() => this.#send(), Math.max(this.#rowsAt - this.#options.now(), 0));
  }

  /** Orders and sends the rows now, as a person waits for them. */
  flush(): void {
    if (this.#steps.isStale()) this.#rebuild();
    this.#steps.postRows();
  }

  /** Orders and sends everything now, as the table is complete. */
  finish(): void {
    this.flush();
    this.#postOverview();
  }

  #send(): void {
    this.#isScheduled = false;
    const { now } = this.#options;
    const time = now();
    if (this.#steps.isStale() && time >= this.#orderAt) this.#rebuild();
    if (this.#overviewIsStale && time >= this.#overviewAt) this.#postOverview();
    this.#steps.postRows();
    const end = now();
    this.#rowsAt = end + Math.max(ROWS_INTERVAL_MS, (end - time) * 2);
    // Steps that were put off are done without a further change.
    const isBehind = this.#steps.isStale() || this.#overviewIsStale;
    if (isBehind) this.changed();
  }

  #rebuild(): void {
    const start = this.#options.now();
    this.#steps.rebuild();
    const end = this.#options.now();
    this.#orderAt = end + Math.max(ORDER_INTERVAL_MS, (end - start) * REST);
  }

  #postOverview(): void {
    const start = this.#options.now();
    this.#overviewIsStale = false;
    this.#steps.postOverview();
    const end = this.#options.now();
    this.#overviewAt = end + Math.max(OVERVIEW_INTERVAL_MS, (end - start) * REST);
  }
}
