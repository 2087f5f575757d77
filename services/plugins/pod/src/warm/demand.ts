import type { WarmPodSettings } from "./settings.js";

/** Starts within this time need a pod each: no replacement is ready sooner, ms. */
const REPLACEMENT_MS = 10_000;
const MAX_STARTS = 1_000;

/** Recent starts of pods of one kind, and the number of idle pods that follows from them. */
export class Demand {
  readonly #starts: number[] = [];
  /**
   * Number of idle pods that an earlier process left, and the time at which they were found, ms.
   */
  #inherited: { readonly pods: number; readonly at: number } | undefined;

  constructor(private readonly settings: Pick<WarmPodSettings, "minIdle" | "maxIdle" | "keepMs">) {}

  /** Counts a start, warm or cold. */
  add(now: number): void {
    this.#starts.push(now);
    if (this.#starts.length > MAX_STARTS) this.#starts.shift();
  }

  /** Takes over idle pods whose starts were counted by an earlier process. */
  inherit(pods: number, now: number): void {
    this.#inherited = { pods, at: now };
  }

  /**
   * Number of idle pods to have: that of the largest burst, between the limits; 0 without recent
   * starts.
   */
  target(now: number): number {
    const { minIdle, maxIdle, keepMs } = this.settings;
    while (this.#starts[0] !== undefined && this.#starts[0] < now - keepMs) this.#starts.shift();
    const inherited = this.#inherited !== undefined && this.#inherited.at >= now - keepMs ? this.#inherited.pods : 0;
    if (this.#starts.length === 0) return Math.min(inherited, maxIdle);
    return Math.min(maxIdle, Math.max(minIdle, inherited, largestBurst(this.#starts)));
  }

  /** True when neither starts nor inherited pods count any more. */
  isOver(now: number): boolean {
    return this.target(now) === 0 && this.#starts.length === 0;
  }
}

/** Maximum number of times within one replacement. */
function largestBurst(times: readonly number[]): number {
  let largest = 0;
  let first = 0;
  for (const [index, time] of times.entries()) {
    while ((times[first] ?? time) <= time - REPLACEMENT_MS) first++;
    largest = Math.max(largest, index - first + 1);
  }
  return largest;
}
