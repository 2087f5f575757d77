/** A stretch of time, milliseconds since the creation of the execution. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Time with stretches folded: each takes `foldedMs` instead of its length. Both directions are
 * monotone and inverse to each other.
 */
export class TimeFolds {
  readonly stretches: readonly Stretch[];
  readonly foldedMs: number;
  /** Folded time at which each stretch begins. */
  readonly #starts: readonly number[];

  /** @param stretches in order, apart from each other, each longer than `foldedMs` */
  constructor(stretches: readonly Stretch[], foldedMs: number) {
    this.stretches = stretches;
    this.foldedMs = foldedMs;
    let removedMs = 0;
    this.#starts = stretches.map(({ fromMs, toMs }) => {
      const start = fromMs - removedMs;
      removedMs += toMs - fromMs - foldedMs;
      return start;
    });
  }

  /** Converts a time; Infinity stays. */
  fold(timeMs: number): number {
    let removedMs = 0;
    for (const { fromMs, toMs } of this.stretches) {
      if (timeMs <= fromMs) break;
      const rate = this.foldedMs / (toMs - fromMs);
      if (timeMs < toMs) return fromMs - removedMs + (timeMs - fromMs) * rate;
      removedMs += toMs - fromMs - this.foldedMs;
    }
    return timeMs - removedMs;
  }

  unfold(foldedMs: number): number {
    let removedMs = 0;
    for (const [index, { fromMs, toMs }] of this.stretches.entries()) {
      const start = this.#starts[index] as number;
      if (foldedMs <= start) break;
      if (foldedMs < start + this.foldedMs) return fromMs + ((foldedMs - start) * (toMs - fromMs)) / this.foldedMs;
      removedMs += toMs - fromMs - this.foldedMs;
    }
    return foldedMs + removedMs;
  }
}

/** Time as it is. */
export const UNFOLDED = new TimeFolds([], 0);
