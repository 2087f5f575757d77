import type { WarmPodSettings } from "./settings.js";

/** Starts within this time need a pod each: no replacement is ready sooner, ms. */
export const REPLACEMENT_MS = 10_000;
const MAX_STARTS = 1_000;

/** Recent starts of pods of one kind, and the number of idle pods that follows from them. */
export class Demand {
  readonly #starts: Start[] = [];
  /**
   * Number of idle pods that an earlier process left, and the time at which they were found, ms.
   */
  #inherited: { readonly pods: number; readonly at: number } | undefined;

  constructor(private readonly settings: Pick<WarmPodSettings, "minIdle" | "maxIdle" | "keepMs">) {}

  /**
   * Counts a start, warm or cold.
   *
   * @param needed number of pods in use with it; absent: pods serve one attempt, and each of the
   *   last starts needed one
   */
  add(now: number, needed = 1 + this.#startsSince(now - REPLACEMENT_MS)): void {
    this.#starts.push({ at: now, needed });
    if (this.#starts.length > MAX_STARTS) this.#starts.shift();
  }

  /** Takes over idle pods whose starts were counted by an earlier process. */
  inherit(pods: number, now: number): void {
    this.#inherited = { pods, at: now };
  }

  /** Maximum number of pods to have ready: what recent starts need, within the limit. */
  target(now: number): number {
    return Math.min(this.settings.maxIdle, this.need(now));
  }

  /**
   * Number of pods, in use or ready: the largest number that recent starts needed at once, or the
   * minimum; 0 without recent starts.
   */
  need(now: number): number {
    const { minIdle, keepMs } = this.settings;
    const peak = this.peak(now);
    const inherited = this.#inherited !== undefined && this.#inherited.at >= now - keepMs ? this.#inherited.pods : 0;
    return this.#starts.length === 0 ? inherited : Math.max(minIdle, inherited, peak);
  }

  /** True when neither starts nor inherited pods count any more. */
  isOver(now: number): boolean {
    return this.target(now) === 0 && this.#starts.length === 0;
  }

  /** Largest number of pods that recent starts needed at once. */
  peak(now: number): number {
    while (this.#starts[0] !== undefined && this.#starts[0].at < now - this.settings.keepMs) this.#starts.shift();
    return Math.max(0, ...this.#starts.map(({ needed }) => needed));
  }

  #startsSince(time: number): number {
    return this.#starts.filter(({ at }) => at > time).length;
  }
}

/** Start of an attempt, and number of pods that were in use with it. */
interface Start {
  readonly at: number;
  readonly needed: number;
}
