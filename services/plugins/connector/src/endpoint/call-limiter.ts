import { type Time, TokenBucket } from "@flyte-ts/async";

/** Kinds of calls that take turns, so that many of one kind do not delay another. */
export type Lane = "start" | "poll" | "stop";

export interface CallLimits {
  readonly callsPerSecond: number;
  /** Number of calls that may exceed the rate after a quiet time. */
  readonly burst: number;
  readonly concurrentCalls: number;
}

/** Minimum pause between calls, ms, as far as the burst allows it: fewer timers cost less. */
const PAUSE_MS = 50;

/**
 * Limits rate and concurrency of the calls of one endpoint. Lanes take turns; calls of one lane run
 * in order.
 */
export class CallLimiter {
  readonly #bucket: TokenBucket;
  readonly #pauseMs: number;
  readonly #lanes: Record<Lane, (() => void)[]> = { stop: [], start: [], poll: [] };
  readonly #order: Lane[] = ["stop", "start", "poll"];
  #running = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(
    private readonly limits: CallLimits,
    private readonly clock: Time,
  ) {
    const intervalMs = 1_000 / limits.callsPerSecond;
    this.#pauseMs = intervalMs * Math.max(1, Math.min(limits.burst, Math.ceil(PAUSE_MS / intervalMs)));
    this.#bucket = new TokenBucket({ burst: limits.burst, intervalMs });
  }

  /** Number of calls that wait for their turn. */
  get waiting(): number {
    return Object.values(this.#lanes).reduce((sum, lane) => sum + lane.length, 0);
  }

  /** Number of calls in progress. */
  get running(): number {
    return this.#running;
  }

  /** Runs a call when it is its turn. */
  async run<T>(lane: Lane, call: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#lanes[lane].push(resolve);
      this.#dispatch();
    });
    try {
      return await call();
    } finally {
      this.#running--;
      this.#dispatch();
    }
  }

  #dispatch(): void {
    while (this.#running < this.limits.concurrentCalls) {
      const lane = this.#order.find((candidate) => this.#lanes[candidate].length > 0);
      if (lane === undefined || this.#cancelTimer !== undefined) return;
      if (!this.#bucket.take(this.clock.elapsed())) {
        this.#cancelTimer = this.clock.schedule(this.#pauseMs, () => {
          this.#cancelTimer = undefined;
          this.#dispatch();
        });
        return;
      }
      this.#order.push(...this.#order.splice(this.#order.indexOf(lane), 1));
      this.#running++;
      this.#lanes[lane].shift()?.();
    }
  }
}
