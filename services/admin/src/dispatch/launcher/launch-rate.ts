import { BoundedMap } from "@flyte-ts/async";

/** Launches in this window and the previous one above which a workflow is launched often. */
const FREQUENT = 10;
const WINDOW_MS = 60_000;
/** Maximum of counted workflows. */
const MAX_WORKFLOWS = 10_000;

interface Counted {
  readonly window: number;
  readonly before: number;
  count: number;
}

/**
 * Detects the workflows that this process launches often: more than ten times within one to two
 * minutes.
 */
export class LaunchRate {
  readonly #counted = new BoundedMap<string, Counted>(MAX_WORKFLOWS);

  constructor(private readonly clock: () => Date) {}

  /** Counts a launch of the workflow; returns true when it is launched often. */
  noteLaunch(workflow: string): boolean {
    const window = Math.floor(this.clock().getTime() / WINDOW_MS);
    const counted = this.#of(workflow, window);
    counted.count++;
    return counted.before + counted.count > FREQUENT;
  }

  #of(workflow: string, window: number): Counted {
    const known = this.#counted.get(workflow);
    if (known?.window === window) return known;
    const counted = { window, before: known?.window === window - 1 ? known.count : 0, count: 0 };
    this.#counted.set(workflow, counted);
    return counted;
  }
}
